From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Lemma head_vanishes (F : numFieldType) (H : nat) (p : F) (a w : 'I_H -> F) :
  (forall h, 0 <= a h) -> (forall h, 0 < w h) -> p = \sum_h w h * a h -> p = 0 ->
  forall h, a h = 0.
Proof.
move=> a0 w0 -> /eqP; rewrite psumr_eq0 => [/allP zero h | h _]; last by rewrite mulr_ge0 // ltW.
by have := zero h (mem_index_enum h); rewrite mulf_eq0 (negbTE (lt0r_neq0 (w0 h))) => /eqP.
Qed.

Theorem gates :
  forall (F : numFieldType) (H n m d d_o : nat) (A : 'I_H -> 'M[F]_(n, m)) (w : 'I_H -> F)
    (T : 'I_H -> 'M[F]_(d_o, d)) (P : 'M[F]_(n, m)) (g : 'I_H -> 'M[F]_(n, m))
    (T_e : 'I_n -> 'I_m -> 'M[F]_(d_o, d)),
  (forall h i j, 0 <= A h i j) -> (forall h, 0 < w h) -> P = \sum_h w h *: A h ->
  (forall h i j, P i j * g h i j = w h * A h i j) ->
  (forall i j, P i j != 0 -> T_e i j = \sum_h (g h i j / w h) *: T h) ->
  forall (x : 'I_m -> 'cV[F]_d) (i : 'I_n),
  \sum_h \sum_j A h i j *: (T h *m x j) = \sum_j P i j *: (T_e i j *m x j).
Proof.
move=> F H n m d d_o A w T P g T_e A0 w0 PE gE TE x i.
rewrite exchange_big; apply: eq_bigr => j _ /=.
have [P0|Pn0] := eqVneq (P i j) 0.
  rewrite P0 scale0r big1 // => h _.
  rewrite (@head_vanishes _ _ (P i j) (fun k => A k i j) w) ?scale0r //.
  by rewrite PE summxE; apply: eq_bigr => k _; rewrite mxE.
rewrite TE // mulmx_suml scaler_sumr; apply: eq_bigr => h _.
by rewrite -scalemxAl scalerA mulrA gE [w h * _]mulrC mulfK ?lt0r_neq0.
Qed.

Lemma gates_witness :
  ~ (forall (A : 'I_2 -> 'M[rat]_(2, 3)) (w : 'I_2 -> rat) (T : 'I_2 -> 'M[rat]_2)
       (P : 'M[rat]_(2, 3)) (g : 'I_2 -> 'M[rat]_(2, 3)) (T_e : 'I_2 -> 'I_3 -> 'M[rat]_2),
     (forall h i j, 0 <= A h i j) -> (forall h, 0 < w h) -> P = \sum_h w h *: A h ->
     (forall h i j, P i j * g h i j = w h * A h i j) ->
     (forall i j, P i j != 0 -> T_e i j = \sum_h (g h i j / w h) *: T h) ->
     forall (x : 'I_3 -> 'cV[rat]_2) (i : 'I_2), False).
Proof.
pose third := const_mx 3%:R^-1 : 'M[rat]_(2, 3).
move=> /(_ (fun=> third) (fun=> 2%:R^-1) (fun=> 0) third (fun=> const_mx 2%:R^-1)
          (fun _ _ => 0)) no.
apply: no (fun=> 0) 0 => [h i j|h||h i j|i j _]; rewrite ?mxE //.
  by apply/matrixP => i j; rewrite summxE !big_ord_recr big_ord0 /= !mxE.
by rewrite big1 // => h _; rewrite scaler0.
Qed.

Theorem gates_are_weights :
  forall (F : numFieldType) (H n m : nat) (A : 'I_H -> 'M[F]_(n, m)) (w : 'I_H -> F)
    (P : 'M[F]_(n, m)) (g : 'I_H -> 'M[F]_(n, m)),
  (forall h i j, 0 <= A h i j) -> (forall h, 0 < w h) -> P = \sum_h w h *: A h ->
  (forall h i j, P i j * g h i j = w h * A h i j) ->
  forall i j, P i j != 0 -> (forall h, 0 <= g h i j) /\ \sum_h g h i j = 1.
Proof.
move=> F H n m A w P g A0 w0 PE gE i j Pn0.
have P_ge0 : 0 <= P i j.
  by rewrite PE summxE sumr_ge0 // => h _; rewrite mxE mulr_ge0 // ltW.
have g_eq h : g h i j = w h * A h i j / P i j by rewrite -gE mulrAC mulfV ?mul1r.
split=> [h|]; first by rewrite g_eq divr_ge0 // mulr_ge0 // ltW.
under eq_bigr => h _ do rewrite g_eq.
rewrite -mulr_suml {1}(_ : \sum_h _ = P i j) ?mulfV // PE summxE.
by apply: eq_bigr => h _; rewrite mxE.
Qed.

Lemma gates_are_weights_witness :
  ~ (forall (A : 'I_2 -> 'M[rat]_(2, 3)) (w : 'I_2 -> rat) (P : 'M[rat]_(2, 3))
       (g : 'I_2 -> 'M[rat]_(2, 3)),
     (forall h i j, 0 <= A h i j) -> (forall h, 0 < w h) -> P = \sum_h w h *: A h ->
     (forall h i j, P i j * g h i j = w h * A h i j) ->
     forall i j, P i j != 0 -> forall h : 'I_2, False).
Proof.
pose third := const_mx 3%:R^-1 : 'M[rat]_(2, 3).
move=> /(_ (fun=> third) (fun=> 2%:R^-1) third (fun=> const_mx 2%:R^-1)) no.
apply: (no _ _ _ _ 0 0 _ 0) => [h i j|h||h i j|]; rewrite ?mxE //.
by apply/matrixP => i j; rewrite summxE !big_ord_recr big_ord0 /= !mxE.
Qed.

Theorem off_support :
  forall (F : numFieldType) (H n m d d_o : nat) (A : 'I_H -> 'M[F]_(n, m)) (w : 'I_H -> F)
    (P : 'M[F]_(n, m)),
  (forall h i j, 0 <= A h i j) -> (forall h, 0 < w h) -> P = \sum_h w h *: A h ->
  [/\ forall h i j, 0 <= w h * A h i j <= P i j,
      forall i j, P i j = 0 -> forall h, A h i j = 0
    & forall T T' : 'I_n -> 'I_m -> 'M[F]_(d_o, d),
        (forall i j, P i j != 0 -> T i j = T' i j) ->
        forall (x : 'I_m -> 'cV[F]_d) i,
        \sum_j P i j *: (T i j *m x j) = \sum_j P i j *: (T' i j *m x j)].
Proof.
move=> F H n m d d_o A w P A0 w0 PE.
have Pij i j : P i j = \sum_h w h * A h i j.
  by rewrite PE summxE; apply: eq_bigr => h _; rewrite mxE.
split=> [h i j|i j P0|T T' same x i].
- rewrite mulr_ge0 ?(ltW (w0 h)) //= Pij (bigD1 h) //= -subr_ge0 addrAC subrr add0r.
  by rewrite sumr_ge0 // => k _; rewrite mulr_ge0 // ltW.
- exact: (head_vanishes (fun k => A0 k i j) w0 (Pij i j) P0).
- apply: eq_bigr => j _; have [->|Pn0] := eqVneq (P i j) 0; first by rewrite !scale0r.
  by rewrite same.
Qed.

Lemma off_support_witness :
  ~ (forall (A : 'I_2 -> 'M[rat]_(2, 3)) (w : 'I_2 -> rat) (P : 'M[rat]_(2, 3)),
     (forall h i j, 0 <= A h i j) -> (forall h, 0 < w h) -> P = \sum_h w h *: A h ->
     (forall (h i : 'I_2) (j : 'I_3), False)
     \/ ((forall i j, P i j = 0 -> forall h : 'I_2, False)
         \/ (forall T T' : 'I_2 -> 'I_3 -> 'M[rat]_2,
               (forall i j, P i j != 0 -> T i j = T' i j) ->
               forall (x : 'I_3 -> 'cV[rat]_2) (i : 'I_2), False))).
Proof.
move=> /(_ (fun=> 0) (fun=> 1) 0) no; case: no => [h i j|h||/(_ 0 0 0) // |].
- by rewrite mxE.
- by [].
- by rewrite big1 // => h _; rewrite scaler0.
- case=> [/(_ 0 0) no | /(_ (fun _ _ => 0) (fun _ _ => 0)) no].
    by apply: (no _ 0); rewrite mxE.
  by apply: (no _ (fun=> 0) 0).
Qed.

Theorem row_sums :
  forall (F : numFieldType) (H n m : nat) (A : 'I_H -> 'M[F]_(n.+1, m)) (w : 'I_H -> F),
  (forall h i, \sum_j A h i j = 1) ->
  (forall i, \sum_j (\sum_h w h *: A h) i j = 1) <-> \sum_h w h = 1.
Proof.
move=> F H n m A w one.
have sums i : \sum_j (\sum_h w h *: A h) i j = \sum_h w h.
  under eq_bigr => j _ do rewrite summxE.
  rewrite exchange_big; apply: eq_bigr => h _.
  by under eq_bigr => j _ do rewrite mxE; rewrite -mulr_sumr one mulr1.
by split=> [/(_ 0) | total i]; rewrite sums.
Qed.

Lemma row_sums_witness :
  ~ (forall (A : 'I_2 -> 'M[rat]_(3, 3)) (w : 'I_2 -> rat),
     (forall h i, \sum_j A h i j = 1) -> False).
Proof.
move=> /(_ (fun=> const_mx 3%:R^-1) (fun=> 0)); apply=> h i.
by rewrite !big_ord_recr big_ord0 /= !mxE.
Qed.

Theorem convex_mixture :
  forall (F : numFieldType) (H n m d d_o : nat) (A : 'I_H.+1 -> 'M[F]_(n, m))
    (T : 'I_H.+1 -> 'M[F]_(d_o, d)) (P : 'M[F]_(n, m)) (g : 'I_H.+1 -> 'M[F]_(n, m))
    (T_e : 'I_n -> 'I_m -> 'M[F]_(d_o, d)),
  let w := H.+1%:R^-1 in
  (forall h i j, 0 <= A h i j) -> P = \sum_h w *: A h ->
  (forall h i j, P i j * g h i j = w * A h i j) ->
  (forall i j, P i j != 0 -> T_e i j = \sum_h (g h i j / w) *: T h) ->
  forall i j, P i j != 0 ->
  [/\ forall h, 0 <= g h i j, \sum_h g h i j = 1,
      T_e i j = \sum_h g h i j *: (H.+1%:R *: T h)
    & T_e i j = H.+1%:R *: \sum_h g h i j *: T h].
Proof.
move=> F H n m d d_o A T P g T_e w A0 PE gE TE i j Pn0.
have w0 (h : 'I_H.+1) : 0 < w by rewrite /w invr_gt0 ltr0Sn.
have [g0 g1] := gates_are_weights A0 w0 PE gE Pn0.
have mixed : T_e i j = \sum_h g h i j *: (H.+1%:R *: T h).
  by rewrite TE //; apply: eq_bigr => h _; rewrite scalerA /w invrK.
split=> //; rewrite mixed scaler_sumr; apply: eq_bigr => h _.
by rewrite !scalerA mulrC.
Qed.

Lemma convex_mixture_witness :
  ~ (forall (A : 'I_3 -> 'M[rat]_(2, 3)) (T : 'I_3 -> 'M[rat]_2) (P : 'M[rat]_(2, 3))
       (g : 'I_3 -> 'M[rat]_(2, 3)) (T_e : 'I_2 -> 'I_3 -> 'M[rat]_2),
     let w := 3%:R^-1 in
     (forall h i j, 0 <= A h i j) -> P = \sum_h w *: A h ->
     (forall h i j, P i j * g h i j = w * A h i j) ->
     (forall i j, P i j != 0 -> T_e i j = \sum_h (g h i j / w) *: T h) ->
     forall i j, P i j != 0 -> forall h : 'I_3, False).
Proof.
pose third := const_mx 3%:R^-1 : 'M[rat]_(2, 3).
move=> /(_ (fun=> third) (fun=> 0) third (fun=> third) (fun _ _ => 0)) no.
apply: (no _ _ _ _ 0 0 _ 0) => [h i j||h i j|i j _|]; rewrite ?mxE //.
  by apply/matrixP => i j; rewrite summxE !big_ord_recr big_ord0 /= !mxE.
by rewrite big1 // => h _; rewrite scaler0.
Qed.

Theorem constancy :
  forall (F : fieldType) (H n m d d_o : nat) (w : 'I_H -> F) (T : 'I_H -> 'M[F]_(d_o, d))
    (g : 'I_H -> 'M[F]_(n, m)) (T_e : 'I_n -> 'I_m -> 'M[F]_(d_o, d)) (i k : 'I_n) (j l : 'I_m),
  T_e i j = \sum_h (g h i j / w h) *: T h -> T_e k l = \sum_h (g h k l / w h) *: T h ->
  T_e i j = T_e k l
  <-> (\row_h (g h i j - g h k l)) *m (\matrix_h mxvec ((w h)^-1 *: T h)) = 0.
Proof.
move=> F H n m d d_o w T g T_e i k j l Tij Tkl.
have -> : (\row_h (g h i j - g h k l)) *m (\matrix_h mxvec ((w h)^-1 *: T h))
          = mxvec (T_e i j - T_e k l).
  rewrite mulmx_sum_row Tij Tkl -sumrB linear_sum; apply: eq_bigr => h _.
  by rewrite rowK mxE -scalerBl -mulrBl -scalerA [RHS]linearZ.
split=> [-> | zero]; first by rewrite subrr linear0.
by apply/eqP; rewrite -subr_eq0 -mxvec_eq0 zero.
Qed.

Lemma constancy_witness :
  ~ (forall (w : 'I_2 -> rat) (T : 'I_2 -> 'M[rat]_2) (g : 'I_2 -> 'M[rat]_(2, 3))
       (T_e : 'I_2 -> 'I_3 -> 'M[rat]_2) (i k : 'I_2) (j l : 'I_3),
     T_e i j = \sum_h (g h i j / w h) *: T h -> T_e k l = \sum_h (g h k l / w h) *: T h ->
     False).
Proof.
move=> /(_ (fun=> 1) (fun=> 0) (fun=> 0) (fun _ _ => 0) 0 0 0 0); apply.
  by rewrite big1 // => h _; rewrite scaler0.
by rewrite big1 // => h _; rewrite scaler0.
Qed.

Theorem grouped_query :
  forall (F : fieldType) (H K n m d d_v d_o : nat) (kv : 'I_H -> 'I_K)
    (A : 'I_H -> 'M[F]_(n, m)) (X : 'M[F]_(m, d)) (W_V : 'I_K -> 'M[F]_(d, d_v))
    (W_O : 'I_H -> 'M[F]_(d_v, d_o)) (i : 'I_n),
  (row i (\sum_h A h *m (X *m W_V (kv h)) *m W_O h))^T
  = \sum_h \sum_j A h i j *: ((W_V (kv h) *m W_O h)^T *m (row j X)^T).
Proof.
move=> F H K n m d d_v d_o kv A X W_V W_O i.
rewrite !linear_sum; apply: eq_bigr => h _ /=.
rewrite -!mulmxA row_mul mulmx_sum_row linear_sum; apply: eq_bigr => j _ /=.
by rewrite linearZ /= mxE -trmx_mul row_mul mulmxA.
Qed.

Lemma grouped_query_witness :
  ~ (forall (kv : 'I_3 -> 'I_2) (A : 'I_3 -> 'M[rat]_(2, 3)) (X : 'M[rat]_(3, 2))
       (W_V : 'I_2 -> 'M[rat]_2) (W_O : 'I_3 -> 'M[rat]_2) (i : 'I_2), False).
Proof. by move=> /(_ (fun=> 0) (fun=> 0) 0 (fun=> 0) (fun=> 0) 0). Qed.
