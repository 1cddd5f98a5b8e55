From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem same_operator :
  forall (F : fieldType) (n m d d_o : nat) (P P' : 'M[F]_(n, m))
    (T T' : 'I_n -> 'I_m -> 'M[F]_(d_o, d)),
  (forall (x : 'I_m -> 'cV[F]_d) (i : 'I_n),
     \sum_j P i j *: (T i j *m x j) = \sum_j P' i j *: (T' i j *m x j))
  <-> (forall i j, P i j *: T i j = P' i j *: T' i j).
Proof.
move=> F n m d d_o P P' T T'; split=> [same i j | same x i]; last first.
  by apply: eq_bigr => j _; rewrite !scalemxAl same.
have one Q (S : 'I_n -> 'I_m -> 'M[F]_(d_o, d)) b :
    \sum_k Q i k *: (S i k *m (if k == j then delta_mx b 0 else 0 : 'cV_d))
    = col b (Q i j *: S i j).
  rewrite (bigD1 j) //= eqxx big1 => [|k /negPf ->]; last by rewrite mulmx0 scaler0.
  by rewrite addr0 colE -scalemxAl.
apply/matrixP => a b.
have := same (fun k => if k == j then delta_mx b 0 else 0) i; rewrite !one => /colP /(_ a).
by rewrite !mxE.
Qed.

Lemma same_operator_witness :
  ~ (forall (P P' : 'M[rat]_(2, 3)) (T T' : 'I_2 -> 'I_3 -> 'M[rat]_2), False).
Proof. by move=> /(_ 0 0 (fun _ _ => 0) (fun _ _ => 0)). Qed.

Theorem frobenius :
  forall (F : realFieldType) (m d d_o : nat) (W T : 'I_m -> 'M[F]_(d_o, d)) (c P : 'I_m -> F),
  (forall j, 0 <= c j) -> (forall j, c j ^+ 2 = \sum_a \sum_b W j a b ^+ 2) ->
  (forall j, 0 <= P j) -> (forall j, W j = 0 -> P j = 0) -> (exists j, W j != 0) ->
  (forall j, P j *: T j = W j) -> \sum_j P j = 1 ->
  (exists t, forall j, W j != 0 -> \sum_a \sum_b T j a b ^+ 2 = t)
  <-> (forall j, P j = c j / \sum_k c k).
Proof.
move=> F m d d_o W T c P c0 cE P0 PW [o Wo] PT P1.
have norm2 j : P j ^+ 2 * (\sum_a \sum_b T j a b ^+ 2) = c j ^+ 2.
  rewrite cE mulr_sumr; apply: eq_bigr => a _; rewrite mulr_sumr; apply: eq_bigr => b _.
  by rewrite -PT mxE exprMn.
have c_neq0 j : W j != 0 -> c j != 0.
  apply: contraNneq => cj0; apply/eqP/matrixP => a b; have /esym/eqP := cE j.
  rewrite cj0 expr0n /= psumr_eq0 => [/allP /(_ a (mem_index_enum a)) /=|i _]; last first.
    by rewrite sumr_ge0 // => k _; rewrite sqr_ge0.
  rewrite psumr_eq0 => [/allP /(_ b (mem_index_enum b)) /=|i _]; last by rewrite sqr_ge0.
  by rewrite sqrf_eq0 mxE => /eqP.
have c_eq0 j : W j = 0 -> c j = 0.
  move=> Wj; apply/eqP; rewrite -sqrf_eq0 cE Wj big1 // => a _.
  by rewrite big1 // => b _; rewrite mxE expr0n.
have total : 0 < \sum_k c k.
  rewrite (bigD1 o) //=; apply: lt_le_trans (_ : 0 < c o) _.
    by rewrite lt_def c0 c_neq0.
  by rewrite -subr_ge0 addrAC subrr add0r sumr_ge0.
split=> [[t tE] j | canonical].
  have cross k : P j * c k = P k * c j.
    have [Wj|Wj] := eqVneq (W j) 0; first by rewrite (PW j) // (c_eq0 j) // mul0r mulr0.
    have [Wk|Wk] := eqVneq (W k) 0; first by rewrite (PW k) // (c_eq0 k) // mul0r mulr0.
    apply/eqP; rewrite -(@eqr_expn2 _ 2) ?mulr_ge0 // !exprMn -!norm2 !tE //.
    by rewrite mulrCA !mulrA.
  apply: (mulIf (lt0r_neq0 total)); rewrite divfK ?lt0r_neq0 // mulr_sumr.
  by under eq_bigr => k _ do rewrite cross; rewrite -mulr_suml P1 mul1r.
exists ((\sum_k c k) ^+ 2) => j Wj; have := norm2 j.
rewrite canonical exprMn -[X in _ = X]mulr1 -mulrA.
move=> /(mulfI _) eq; have {eq} := eq (expf_neq0 2 (c_neq0 j Wj)).
by rewrite exprVn => /(canRL (mulKf _)) ->; rewrite ?invrK ?mulr1 ?invr_eq0 ?expf_neq0 ?lt0r_neq0.
Qed.

Lemma frobenius_witness :
  ~ (forall (W T : 'I_3 -> 'M[rat]_2) (c P : 'I_3 -> rat),
     (forall j, 0 <= c j) -> (forall j, c j ^+ 2 = \sum_a \sum_b W j a b ^+ 2) ->
     (forall j, 0 <= P j) -> (forall j, W j = 0 -> P j = 0) -> (exists j, W j != 0) ->
     (forall j, P j *: T j = W j) -> \sum_j P j = 1 -> False).
Proof.
pose J := const_mx 1 : 'M[rat]_2.
have J0 : J != 0 by apply/eqP => /matrixP /(_ 0 0); rewrite !mxE.
move=> /(_ (fun=> J) (fun=> 3%:R *: J) (fun=> 2%:R) (fun=> 3%:R^-1)); apply=> //.
- by move=> j; rewrite !big_ord_recr !big_ord0 /= !mxE.
- by move=> j /eqP; rewrite (negbTE J0).
- by exists 0.
- by move=> j; rewrite scalerA mulVf ?scale1r.
- by rewrite !big_ord_recr big_ord0.
Qed.

Theorem frobenius__exists :
  forall (F : realFieldType) (m d d_o : nat) (W : 'I_m -> 'M[F]_(d_o, d)) (c : 'I_m -> F),
  (forall j, 0 <= c j) -> (forall j, c j ^+ 2 = \sum_a \sum_b W j a b ^+ 2) ->
  (exists j, W j != 0) ->
  let P j := c j / \sum_k c k in
  [/\ forall j, 0 <= P j, forall j, W j = 0 <-> P j = 0, \sum_j P j = 1
    & exists T : 'I_m -> 'M[F]_(d_o, d), forall j, P j *: T j = W j].
Proof.
move=> F m d d_o W c c0 cE [o Wo] P.
have c_eq0 j : W j = 0 <-> c j = 0.
  split=> [Wj | cj]; first apply/eqP.
    rewrite -sqrf_eq0 cE Wj big1 // => a _.
    by rewrite big1 // => b _; rewrite mxE expr0n.
  apply/matrixP => a b; have /esym/eqP := cE j.
  rewrite cj expr0n /= psumr_eq0 => [/allP /(_ a (mem_index_enum a)) /=|i _]; last first.
    by rewrite sumr_ge0 // => k _; rewrite sqr_ge0.
  rewrite psumr_eq0 => [/allP /(_ b (mem_index_enum b)) /=|i _]; last by rewrite sqr_ge0.
  by rewrite sqrf_eq0 mxE => /eqP.
have total : 0 < \sum_k c k.
  rewrite (bigD1 o) //=; apply: lt_le_trans (_ : 0 < c o) _.
    by rewrite lt_def c0 andbT; apply: contra_neq Wo => /c_eq0.
  by rewrite -subr_ge0 addrAC subrr add0r sumr_ge0.
have P_eq0 j : W j = 0 <-> P j = 0.
  rewrite c_eq0 /P; split=> [-> | /eqP]; first by rewrite mul0r.
  by rewrite mulf_eq0 invr_eq0 (gt_eqF total) orbF => /eqP.
split=> // [j||]; first by rewrite divr_ge0 // ltW.
  by rewrite -mulr_suml mulfV // gt_eqF.
exists (fun j => (P j)^-1 *: W j) => j; have [P0|P0] := eqVneq (P j) 0.
  by rewrite P0 scale0r; symmetry; apply/P_eq0.
by rewrite scalerA mulfV // scale1r.
Qed.

Lemma frobenius__exists_witness :
  ~ (forall (W : 'I_3 -> 'M[rat]_2) (c : 'I_3 -> rat),
     (forall j, 0 <= c j) -> (forall j, c j ^+ 2 = \sum_a \sum_b W j a b ^+ 2) ->
     (exists j, W j != 0) ->
     (forall j : 'I_3, False) \/ (forall j : 'I_3, False)).
Proof.
pose J := const_mx 1 : 'M[rat]_2.
have J0 : J != 0 by apply/eqP => /matrixP /(_ 0 0); rewrite !mxE.
move=> /(_ (fun=> J) (fun=> 2%:R)) [//|j||/(_ 0)//|/(_ 0)//]; last by exists 0.
by rewrite !big_ord_recr !big_ord0 /= !mxE.
Qed.

Theorem what_stays :
  forall (F : numFieldType) (n d : nat) (P P' : 'M[F]_n) (T T' : 'I_n -> 'I_n -> 'M[F]_d),
  (forall i j, P i j *: T i j = P' i j *: T' i j) ->
  forall (i : 'I_n) (s : seq 'I_n),
  (\prod_(e <- zip (i :: s) s) P e.1 e.2) *: (\big[mulmx/1%:M]_(e <- zip (i :: s) s) T e.1 e.2)
  = (\prod_(e <- zip (i :: s) s) P' e.1 e.2)
    *: (\big[mulmx/1%:M]_(e <- zip (i :: s) s) T' e.1 e.2)
  /\ (all (fun e => (0 < P e.1 e.2) && (0 < P' e.1 e.2)) (zip (i :: s) s) ->
      exists2 c, 0 < c
      & \big[mulmx/1%:M]_(e <- zip (i :: s) s) T' e.1 e.2
        = c *: (\big[mulmx/1%:M]_(e <- zip (i :: s) s) T e.1 e.2)).
Proof.
move=> F n d P P' T T' same i s.
have scaled : forall l : seq ('I_n * 'I_n),
    (\prod_(e <- l) P e.1 e.2) *: (\big[mulmx/1%:M]_(e <- l) T e.1 e.2)
    = (\prod_(e <- l) P' e.1 e.2) *: (\big[mulmx/1%:M]_(e <- l) T' e.1 e.2).
  have each p q (X Y : 'M[F]_d) : (p * q) *: (X *m Y) = (p *: X) *m (q *: Y).
    by rewrite -scalemxAl -scalemxAr scalerA.
  by elim=> [|[a b] l IH]; rewrite ?big_nil // !big_cons /= !each same IH.
split=> [|/allP positive]; first exact: scaled.
have prod_gt0 (Q : 'M[F]_n) l : (forall e, e \in l -> 0 < Q e.1 e.2) ->
    0 < \prod_(e <- l) Q e.1 e.2.
  by move=> pos; rewrite big_seq prodr_gt0.
have PP : 0 < \prod_(e <- zip (i :: s) s) P e.1 e.2.
  by apply: prod_gt0 => e /positive /andP[].
have PP' : 0 < \prod_(e <- zip (i :: s) s) P' e.1 e.2.
  by apply: prod_gt0 => e /positive /andP[].
exists (\prod_(e <- zip (i :: s) s) P e.1 e.2 / \prod_(e <- zip (i :: s) s) P' e.1 e.2).
  by rewrite divr_gt0.
by rewrite mulrC -scalerA scaled scalerA mulVf ?scale1r ?lt0r_neq0.
Qed.

Lemma what_stays_witness :
  ~ (forall (P P' : 'M[rat]_3) (T T' : 'I_3 -> 'I_3 -> 'M[rat]_2),
     (forall i j, P i j *: T i j = P' i j *: T' i j) ->
     forall (i : 'I_3) (s : seq 'I_3),
     all (fun e => (0 < P e.1 e.2) && (0 < P' e.1 e.2)) (zip (i :: s) s) -> False).
Proof.
move=> /(_ (const_mx 1) (const_mx 1) (fun _ _ => 1%:M) (fun _ _ => 1%:M)) no.
by apply: (no _ 0 [:: 1; 0]) => //=; rewrite !mxE.
Qed.

Theorem what_changes :
  forall F : numFieldType,
  [/\ exists (P P' : 'M[F]_1) (T T' : 'I_1 -> 'I_1 -> 'M[F]_1),
        [/\ forall i j, P i j *: T i j = P' i j *: T' i j,
            forall i, \sum_j P i j = 1, forall i, \sum_j P' i j != 1,
            forall i j, (T i j)^T *m T i j = 1%:M & forall i j, (T' i j)^T *m T' i j != 1%:M],
      exists (P P' : 'M[F]_3) (T T' : 'I_3 -> 'I_3 -> 'M[F]_1),
        [/\ forall i j, P i j *: T i j = P' i j *: T' i j,
            forall i j, 0 < P i j, forall i j, 0 < P' i j,
            (forall i, \sum_j P i j = 1) /\ (forall i, \sum_j P' i j = 1)
          & (exists2 pi : 'I_3 -> F, forall i, 0 < pi i
             & forall i j, pi i * P i j = pi j * P j i)
            /\ ~ (exists2 pi : 'I_3 -> F, forall i, 0 < pi i
                  & forall i j, pi i * P' i j = pi j * P' j i)]
    & exists (A : 'I_2 -> 'M[F]_1) (w w' : 'I_2 -> F) (g g' : 'I_2 -> 'M[F]_1),
        [/\ forall h i, \sum_j A h i j = 1, (forall h, 0 < w h) /\ (forall h, 0 < w' h),
            \sum_h w h *: A h = \sum_h w' h *: A h,
            forall h i j, (\sum_k w k *: A k) i j * g h i j = w h * A h i j
                          /\ (\sum_k w' k *: A k) i j * g' h i j = w' h * A h i j
          & g 0 != g' 0]].
Proof.
move=> F; have two0 : 2%:R != 0 :> F by rewrite pnatr_eq0.
have three0 : 3%:R != 0 :> F by rewrite pnatr_eq0.
split.
- exists 1%:M, (const_mx 2%:R), (fun _ _ => 1%:M), (fun _ _ => 2%:R^-1%:M); split.
  + by move=> i j; rewrite !ord1 !mxE scale1r scale_scalar_mx mulfV.
  + by move=> i; rewrite big_ord1 ord1 mxE.
  + by move=> i; rewrite big_ord1 mxE (eqr_nat _ 2 1).
  + by move=> i j; rewrite trmx1 mulmx1.
  + move=> i j; apply/eqP => /matrixP /(_ 0 0).
    rewrite tr_scalar_mx -scalar_mxM !mxE !mulr1n -invfM -natrM => /(congr1 GRing.inv) /eqP.
    by rewrite invrK invr1 (eqr_nat _ (2 * 2) 1).
- pose t := [:: 2; 3; 1; 1; 2; 3; 3; 1; 2]%N.
  pose c i j := nth 1%N t (3 * i + j).
  have c0 (i j : 'I_3) : 0 < (c i j)%:R :> F.
    by rewrite ltr0n; move: i j; apply: each3; apply: each3.
  pose P := const_mx 3%:R^-1 : 'M[F]_3.
  pose P' := \matrix_(i < 3, j < 3) ((c i j)%:R / 6%:R) : 'M[F]_3.
  have six0 : 6%:R != 0 :> F by rewrite pnatr_eq0.
  have P'0 i j : 0 < P' i j by rewrite mxE divr_gt0 ?ltr0Sn.
  exists P, P', (fun _ _ => 1%:M), (fun i j => (3%:R^-1 / P' i j)%:M); split=> //.
  + by move=> i j; rewrite !scale_scalar_mx mulr1 mulrC divfK ?lt0r_neq0 // mxE.
  + by move=> i j; rewrite mxE invr_gt0 ltr0Sn.
  + split=> i; rewrite sum3 !mxE; last first.
      rewrite -!mulrDl -!natrD (_ : (_ + _ + _)%N = 6%N) ?mulfV //.
      by move: i; apply: each3.
    by rewrite -[3%:R^-1]mul1r -!mulrDl (_ : 1 + 1 + 1 = 3%:R :> F) ?mulfV // -addrA.
  + split; first by exists (fun=> 1) => i *; rewrite ?ltr01 ?mxE.
    case=> pi pi0 balance.
    have step (i j : 'I_3) : pi i * (c i j)%:R = pi j * (c j i)%:R.
      apply: (mulIf (invr_neq0 six0)); rewrite -!mulrA.
      by have := balance i j; rewrite !mxE.
    have := step 0 1; have := step 1 2%:R; have := step 2%:R 0; rewrite /c /= !mulr1.
    move=> e20 e12 e01; have : pi 0 * 27%:R = pi 0.
      by rewrite (_ : 27 = 3 * 3 * 3)%N // !natrM !mulrA e01 e12 e20.
    rewrite -[RHS]mulr1 => /(mulfI (lt0r_neq0 (pi0 0))) /eqP.
    by rewrite (eqr_nat _ 27 1).
- exists (fun=> 1%:M), (fun=> 2%:R^-1), (fun h => if h == 0 then 4%:R^-1 else 3%:R / 4%:R).
  exists (fun=> 2%:R^-1%:M), (fun h => (if h == 0 then 4%:R^-1 else 3%:R / 4%:R)%:M).
  have four0 : 4%:R != 0 :> F by rewrite pnatr_eq0.
  have half : 2%:R^-1 + 2%:R^-1 = 1 :> F by rewrite -[2%:R^-1]mul1r -mulrDl mulfV.
  have quarters : 4%:R^-1 + 3%:R / 4%:R = 1 :> F.
    by rewrite -[X in X + _]mul1r -mulrDl -mulrS mulfV.
  split.
  + by move=> h i; rewrite big_ord1 ord1 mxE.
  + by split=> h; [|case: ifP => _]; rewrite ?divr_gt0 ?invr_gt0 ?ltr0Sn.
  + by rewrite !sum2 /= -!scalerDl half quarters.
  + move=> h i j; rewrite !sum2 /= -!scalerDl half quarters scale1r !ord1 !mxE /= !mul1r !mulr1.
    by rewrite !mulr1n.
  + apply/eqP => /matrixP /(_ 0 0); rewrite !mxE /= !mulr1n => /invr_inj /eqP.
    by rewrite eqr_nat.
Qed.

Lemma what_changes_witness : ~ (forall F : numFieldType, False).
Proof. by move=> /(_ rationals). Qed.

Theorem node_gauge :
  forall (F : fieldType) (n d : nat) (P : 'M[F]_n) (T : 'I_n -> 'I_n -> 'M[F]_d)
    (g : 'I_n -> 'M[F]_d),
  (forall i, g i \in unitmx) ->
  let moved i j := g i *m T i j *m invmx (g j) in
  [/\ forall (x : 'I_n -> 'cV[F]_d) i,
        \sum_j P i j *: (moved i j *m (g j *m x j)) = g i *m \sum_j P i j *: (T i j *m x j),
      forall (i : 'I_n) (s : seq 'I_n),
        \big[mulmx/1%:M]_(e <- zip (i :: s) s) moved e.1 e.2
        = g i *m (\big[mulmx/1%:M]_(e <- zip (i :: s) s) T e.1 e.2) *m invmx (g (last i s))
    & forall (G : 'I_n -> 'M[F]_d) i j,
        let H k := (invmx (g k))^T *m G k *m invmx (g k) in
        (T i j)^T *m G i *m T i j = G j -> (moved i j)^T *m H i *m moved i j = H j].
Proof.
move=> F n d P T g gU moved; split=> [x i | i s | G i j H iso].
- rewrite mulmx_sumr; apply: eq_bigr => j _; rewrite -scalemxAr /moved; congr (_ *: _).
  by rewrite -!mulmxA (mulKmx (gU j)).
- elim: s i => [|j s IH] i /=; first by rewrite !big_nil mulmx1 mulmxV.
  by rewrite !big_cons /= IH /moved -!mulmxA (mulKmx (gU j)).
- rewrite /H /moved !trmx_mul -!mulmxA; congr (_ *m _).
  rewrite (mulmxA (g i)^T) -trmx_mul mulVmx // trmx1 mul1mx (mulKmx (gU i)).
  by rewrite !mulmxA iso.
Qed.

Lemma node_gauge_witness :
  ~ (forall (P : 'M[rat]_3) (T : 'I_3 -> 'I_3 -> 'M[rat]_2) (g : 'I_3 -> 'M[rat]_2),
     (forall i, g i \in unitmx) ->
     (forall (x : 'I_3 -> 'cV[rat]_2) (i : 'I_3), False)
     \/ ((forall (i : 'I_3) (s : seq 'I_3), False)
         \/ (forall (G : 'I_3 -> 'M[rat]_2) (i j : 'I_3),
               (T i j)^T *m G i *m T i j = G j -> False))).
Proof.
move=> /(_ 0 (fun _ _ => 0) (fun=> 1%:M)) no.
case: no => [i|/(_ (fun=> 0) 0)//|[/(_ 0 [::])//|/(_ (fun=> 0) 0 0)]]; rewrite ?unitmx1 //.
by apply; rewrite mulmx0.
Qed.
