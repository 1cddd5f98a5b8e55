From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums inner_products.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem gates :
  forall (F : numFieldType) (H n m d d_o : nat) (A : 'I_H.+1 -> 'M[F]_(n, m))
    (T : 'I_H.+1 -> 'M[F]_(d_o, d)) (P : 'M[F]_(n, m)) (g : 'I_H.+1 -> 'M[F]_(n, m)),
  (forall h i j, 0 <= A h i j) -> P = \sum_h H.+1%:R^-1 *: A h ->
  (forall h i j, P i j * g h i j = H.+1%:R^-1 * A h i j) ->
  forall (i : 'I_n) (j : 'I_m) (T_ij : 'M[F]_(d_o, d)), 0 < P i j ->
  \sum_h A h i j *: T h = P i j *: T_ij <-> T_ij = \sum_h g h i j *: (H.+1%:R *: T h).
Proof.
move=> F H n m d d_o A T P g A0 PE gE i j T_ij Pij.
have -> : \sum_h A h i j *: T h = P i j *: \sum_h g h i j *: (H.+1%:R *: T h).
  rewrite scaler_sumr; apply: eq_bigr => h _; rewrite !scalerA gE.
  by rewrite mulrAC mulVf ?mul1r // pnatr_eq0.
by split=> [/(scalerI (lt0r_neq0 Pij)) | ->].
Qed.

Lemma gates_witness :
  ~ (forall (A : 'I_3 -> 'M[rat]_(2, 3)) (T : 'I_3 -> 'M[rat]_2) (P : 'M[rat]_(2, 3))
       (g : 'I_3 -> 'M[rat]_(2, 3)),
     (forall h i j, 0 <= A h i j) -> P = \sum_h 3%:R^-1 *: A h ->
     (forall h i j, P i j * g h i j = 3%:R^-1 * A h i j) ->
     forall (i : 'I_2) (j : 'I_3) (T_ij : 'M[rat]_2), 0 < P i j -> False).
Proof.
move=> /(_ (fun=> const_mx 1) (fun=> 0) (const_mx 1) (fun=> const_mx 3%:R^-1)) no.
apply: (no _ _ _ 0 0 0) => [h i j||h i j|]; rewrite ?mxE //.
by apply/matrixP => i j; rewrite sum3 !mxE.
Qed.

Lemma sum_above (V : zmodType) n (f : 'I_n -> 'I_n -> V) :
  (forall h k, f h k = f k h) -> (forall h, f h h = 0) ->
  \sum_h \sum_k f h k = (\sum_(h < n) \sum_(k < n | (h < k)%N) f h k) *+ 2.
Proof.
move=> sym diag.
have split_ h : \sum_k f h k = \sum_(k < n | (h < k)%N) f h k + \sum_(k < n | (k < h)%N) f h k.
  rewrite (bigID (fun k : 'I_n => (h < k)%N)) /=; congr (_ + _).
  rewrite (bigD1 h) ?ltnn //= diag add0r; apply: eq_bigl => k.
  by rewrite -leqNgt [in RHS]ltn_neqAle andbC; congr (_ && _).
under eq_bigr => h _ do rewrite split_.
rewrite big_split mulr2n /=; congr (_ + _).
rewrite (exchange_big_dep predT) //=; apply: eq_bigr => k _; apply: eq_bigr => h _.
exact: sym.
Qed.

Theorem identity :
  forall (F : numFieldType) (H d : nat) (g : 'I_H -> F) (O : 'I_H -> 'M[F]_d) (A G T : 'M[F]_d),
  G = A^T *m A -> \sum_h g h = 1 -> (forall h, (O h)^T *m G *m O h = G) ->
  T = \sum_h g h *: O h ->
  G - T^T *m G *m T
  = 2%:R^-1 *: (\sum_h \sum_k (g h * g k) *: ((O h - O k)^T *m G *m (O h - O k)))
  /\ \sum_(h < H) \sum_(k < H | (h < k)%N) (g h * g k) *: ((O h - O k)^T *m G *m (O h - O k))
     = 2%:R^-1 *: (\sum_h \sum_k (g h * g k) *: ((O h - O k)^T *m G *m (O h - O k))).
Proof.
move=> F H d g O A G T GE g1 iso TE.
have two0 : 2%:R != 0 :> F by rewrite pnatr_eq0.
have half (X : 'M[F]_d) : 2%:R^-1 *: (X *+ 2) = X.
  by rewrite -scaler_nat scalerA mulVf // scale1r.
have GT : G^T = G by rewrite GE trmx_mul trmxK.
pose D h k := (O h - O k)^T *m G *m (O h - O k).
pose X h k := (O h)^T *m G *m O k.
have DE h k : D h k = (G + G) - (X h k + X k h).
  rewrite /D trB !mulmxBl !mulmxBr !iso -/(X h k) -/(X k h) opprB.
  by rewrite addrACA [RHS]addrC opprD addrC -!addrA; congr (_ + _); rewrite addrCA addrC -addrA.
have mixed : \sum_h \sum_k (g h * g k) *: X h k = T^T *m G *m T.
  rewrite TE trmx_sum !mulmx_suml; apply: eq_bigr => h _.
  rewrite mulmx_sumr; apply: eq_bigr => k _.
  by rewrite trZ -!scalemxAl -scalemxAr scalerA.
have whole : \sum_h \sum_k (g h * g k) *: G = G.
  under eq_bigr => h _ do rewrite -scaler_suml -mulr_sumr g1 mulr1.
  by rewrite -scaler_suml g1 scale1r.
split; last first.
  rewrite (@sum_above _ _ (fun h k => (g h * g k) *: D h k)) ?half // => [h k|h].
    by rewrite !DE mulrC [X h k + _]addrC.
  by rewrite /D subrr mulmx0 scaler0.
rewrite -/(D _ _) -[LHS]half; congr (_ *: _); rewrite mulrnBl !mulr2n.
transitivity (\sum_h \sum_k ((g h * g k) *: G + (g h * g k) *: G
    - ((g h * g k) *: X h k + (g k * g h) *: X k h))).
  under [RHS]eq_bigr => h _ do rewrite sumrB !big_split.
  rewrite sumrB !big_split /= whole mixed; congr (_ - (_ + _)).
  by rewrite exchange_big /= mixed.
apply: eq_bigr => h _; apply: eq_bigr => k _.
by rewrite -/(D h k) DE scalerBr !scalerDr [g k * _]mulrC.
Qed.

Lemma identity_witness :
  ~ (forall (g : 'I_2 -> rat) (O : 'I_2 -> 'M[rat]_2) (A G T : 'M[rat]_2),
     G = A^T *m A -> \sum_h g h = 1 -> (forall h, (O h)^T *m G *m O h = G) ->
     T = \sum_h g h *: O h -> False).
Proof.
move=> /(_ (fun=> 2%:R^-1) (fun=> 1%:M) 1%:M 1%:M 1%:M); apply.
- by rewrite trmx1 mulmx1.
- by rewrite sum2.
- by move=> h; rewrite trmx1 !mulmx1.
- by rewrite sum2 -scalerDl scale1r.
Qed.

Section Gap.
Variables (F : realFieldType) (H d : nat) (g : 'I_H -> F) (O : 'I_H -> 'M[F]_d) (A G T : 'M[F]_d).
Hypotheses (GE : G = A^T *m A) (g1 : \sum_h g h = 1) (iso : forall h, (O h)^T *m G *m O h = G).
Hypotheses (TE : T = \sum_h g h *: O h) (g0 : forall h, 0 <= g h).

Let part h k (v : 'cV[F]_d) := (((A *m (O h - O k) *m v)^T *m (A *m (O h - O k) *m v)) 0 0).

Lemma gap (v : 'cV[F]_d) :
  (v^T *m G *m v) 0 0 - ((T *m v)^T *m G *m (T *m v)) 0 0
  = 2%:R^-1 * \sum_h \sum_k g h * g k * part h k v.
Proof.
have [same _] := identity GE g1 iso TE.
have -> : (v^T *m G *m v) 0 0 - ((T *m v)^T *m G *m (T *m v)) 0 0
    = (v^T *m (G - T^T *m G *m T) *m v) 0 0.
  by rewrite mulmxBr mulmxBl entryB trmx_mul !mulmxA.
rewrite same -scalemxAr -scalemxAl entryZ; congr (_ * _).
rewrite mulmx_sumr mulmx_suml summxE; apply: eq_bigr => h _.
rewrite mulmx_sumr mulmx_suml summxE; apply: eq_bigr => k _.
rewrite -scalemxAr -scalemxAl entryZ; congr (_ * _).
by rewrite /part GE !trmx_mul !mulmxA.
Qed.

Lemma part_ge0 h k v : 0 <= g h * g k * part h k v.
Proof. by rewrite mulr_ge0 ?mulr_ge0 // /part norm2_ge0. Qed.

Lemma gap_ge0 (v : 'cV[F]_d) : ((T *m v)^T *m G *m (T *m v)) 0 0 <= (v^T *m G *m v) 0 0.
Proof.
rewrite -subr_ge0 gap mulr_ge0 ?invr_ge0 ?ler0n //.
by apply: sumr_ge0 => h _; apply: sumr_ge0 => k _; exact: part_ge0.
Qed.

Lemma coincide h k : A \in unitmx -> 0 < g h -> 0 < g k ->
  (forall b, let e := delta_mx b 0 : 'cV[F]_d in
     (e^T *m G *m e) 0 0 - ((T *m e)^T *m G *m (T *m e)) 0 0 = 0) -> O h = O k.
Proof.
move=> AU gh gk zero; apply/eqP; rewrite -subr_eq0; apply/eqP/matrixP => a b.
have sum_ge0 l : 0 <= \sum_q g l * g q * part l q (delta_mx b 0 : 'cV[F]_d).
  by apply: sumr_ge0 => q _; exact: part_ge0.
have /eqP := zero b; rewrite gap mulf_eq0 invr_eq0 pnatr_eq0 /=.
rewrite psumr_eq0 => [/allP /(_ h (mem_index_enum h)) /=|l _]; last exact: sum_ge0.
rewrite psumr_eq0 => [/allP /(_ k (mem_index_enum k)) /=|l _]; last exact: part_ge0.
rewrite !mulf_eq0 (gt_eqF gh) (gt_eqF gk) /= /part norm2_eq0 -mulmxA => /eqP Av.
have : (O h - O k) *m delta_mx b 0 = 0 :> 'cV_d by rewrite -[LHS](mulKmx AU) Av mulmx0.
by rewrite -colE => /colP /(_ a); rewrite !mxE.
Qed.

Lemma some_active : exists h, 0 < g h.
Proof.
have [/existsP [h gh]|none] := boolP [exists h, 0 < g h]; first by exists h.
have : 0 = 1 :> F; last by move/eqP; rewrite eq_sym oner_eq0.
rewrite -g1 big1 // => h _; apply/eqP; move: none; rewrite negb_exists => /forallP /(_ h).
by rewrite lt_def g0 andbT negbK.
Qed.
End Gap.

Theorem isometry :
  forall (F : realFieldType) (H d : nat) (g : 'I_H -> F) (O : 'I_H -> 'M[F]_d) (A G T : 'M[F]_d),
  G = A^T *m A -> \sum_h g h = 1 -> (forall h, (O h)^T *m G *m O h = G) ->
  T = \sum_h g h *: O h -> (forall h, 0 <= g h) -> A \in unitmx ->
  T^T *m G *m T = G <-> (forall h k, 0 < g h -> 0 < g k -> O h = O k).
Proof.
move=> F H d g O A G T GE g1 iso TE g0 AU; split=> [isoT h k gh gk | same].
  apply: (coincide GE g1 iso TE g0 AU gh gk) => b e.
  by rewrite trmx_mul -!mulmxA (mulmxA T^T) (mulmxA (T^T *m G)) isoT subrr.
have [o go] := some_active g1 g0; suff -> : T = O o by [].
rewrite TE -[RHS]scale1r -g1 scaler_suml; apply: eq_bigr => h _.
by have := g0 h; rewrite le_eqVlt => /predU1P[<-|gh]; rewrite ?scale0r // (same h o).
Qed.

Lemma isometry_witness :
  ~ (forall (g : 'I_2 -> rat) (O : 'I_2 -> 'M[rat]_2) (A G T : 'M[rat]_2),
     G = A^T *m A -> \sum_h g h = 1 -> (forall h, (O h)^T *m G *m O h = G) ->
     T = \sum_h g h *: O h -> (forall h, 0 <= g h) -> A \in unitmx -> False).
Proof.
move=> /(_ (fun=> 2%:R^-1) (fun=> 1%:M) 1%:M 1%:M 1%:M); apply=> //; last exact: unitmx1.
- by rewrite trmx1 mulmx1.
- by rewrite sum2.
- by move=> h; rewrite trmx1 !mulmx1.
- by rewrite sum2 -scalerDl scale1r.
Qed.

Theorem contraction :
  forall (F : realFieldType) (H d : nat) (g : 'I_H -> F) (O : 'I_H -> 'M[F]_d) (A G T : 'M[F]_d),
  G = A^T *m A -> \sum_h g h = 1 -> (forall h, (O h)^T *m G *m O h = G) ->
  T = \sum_h g h *: O h -> (forall h, 0 <= g h) ->
  let norm2 (v : 'cV[F]_d) := (v^T *m G *m v) 0 0 in
  (forall v : 'cV[F]_d, norm2 (T *m v) <= norm2 v)
  /\ (forall h k, A \in unitmx -> 0 < g h -> 0 < g k -> O h != O k ->
      \sum_b (norm2 (delta_mx b 0) - norm2 (T *m delta_mx b 0)) != 0
      /\ exists b, norm2 (T *m delta_mx b 0) < norm2 (delta_mx b 0)).
Proof.
move=> F H d g O A G T GE g1 iso TE g0 norm2.
have le v : norm2 (T *m v) <= norm2 v := gap_ge0 GE g1 iso TE g0 v.
split=> // h k AU gh gk differ.
have strict : exists b, norm2 (T *m delta_mx b 0) < norm2 (delta_mx b 0).
  apply/existsP; apply: contraR differ; rewrite negb_exists => /forallP none; apply/eqP.
  apply: (coincide GE g1 iso TE g0 AU gh gk) => b e; apply/eqP; rewrite subr_eq0.
  by rewrite eq_le le andbT leNgt; exact: none.
split=> //; have [b lt] := strict; apply: lt0r_neq0.
apply: (@sum_pos F d (fun b => norm2 (delta_mx b 0) - norm2 (T *m delta_mx b 0)) b).
  by rewrite subr_gt0.
by move=> c; rewrite subr_ge0.
Qed.

Lemma contraction_witness :
  ~ (forall (g : 'I_2 -> rat) (O : 'I_2 -> 'M[rat]_2) (A G T : 'M[rat]_2),
     G = A^T *m A -> \sum_h g h = 1 -> (forall h, (O h)^T *m G *m O h = G) ->
     T = \sum_h g h *: O h -> (forall h, 0 <= g h) ->
     (forall v : 'cV[rat]_2, False)
     \/ (forall h k, A \in unitmx -> 0 < g h -> 0 < g k -> O h != O k -> False)).
Proof.
move=> /(_ (fun=> 2%:R^-1) (fun h => (if h == 0 then 1 else - 1)%:M) 1%:M 1%:M 0) no.
case: no => [||h||//|/(_ 0)//|/(_ 0 1) no].
- by rewrite trmx1 mulmx1.
- by rewrite sum2.
- by rewrite mulmx1 tr_scalar_mx -scalar_mxM; case: (h == 0); rewrite ?mulrNN mulr1.
- by rewrite sum2 /= -scalerDr -rmorphD subrr rmorph0 scaler0.
- by apply: no => //; [exact: unitmx1 | apply/eqP => /matrixP /(_ 0 0); rewrite !mxE].
Qed.
