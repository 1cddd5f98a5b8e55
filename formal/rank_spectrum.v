From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums inner_products.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem widths :
  forall (F : fieldType) (n m w w_1 : nat) (A : 'M[F]_(n, w)) (B : 'M[F]_(m, w))
    (A' : 'M[F]_(n, w_1)) (B' : 'M[F]_(m, w_1)),
  A *m B^T + A' *m B'^T = row_mx A A' *m (row_mx B B')^T
  /\ (\rank (A *m B^T + A' *m B'^T)%R <= w + w_1)%N.
Proof.
move=> F n m w w_1 A B A' B'.
have same : A *m B^T + A' *m B'^T = row_mx A A' *m (row_mx B B')^T.
  by rewrite tr_row_mx mul_row_col.
by split=> //; rewrite same (leq_trans (mxrankM_maxl _ _)) ?rank_leq_col.
Qed.

Lemma widths_witness :
  ~ (forall (A : 'M[rat]_(2, 2)) (B : 'M[rat]_(3, 2)) (A' : 'M[rat]_(2, 2))
       (B' : 'M[rat]_(3, 2)), False).
Proof. by move=> /(_ 0 0 0 0). Qed.

Theorem subspace :
  forall (F : fieldType) (n w d : nat) (W : 'M[F]_(d, w)) (z : 'I_n -> 'cV[F]_w)
    (x : 'I_n -> 'cV[F]_d) (G : 'I_n -> 'M[F]_d),
  (forall i, x i = W *m z i) -> forall i j,
  (x i - x j)^T *m G i *m (x i - x j) = (z i - z j)^T *m (W^T *m G i *m W) *m (z i - z j)
  /\ (x i)^T *m G i *m x j = (z i)^T *m (W^T *m G i *m W) *m z j.
Proof.
move=> F n w d W z x G xE i j; rewrite !xE -!mulmxBr.
by split; rewrite trmx_mul !mulmxA.
Qed.

Lemma subspace_witness :
  ~ (forall (W : 'M[rat]_(3, 2)) (z : 'I_2 -> 'cV[rat]_2) (x : 'I_2 -> 'cV[rat]_3)
       (G : 'I_2 -> 'M[rat]_3), (forall i, x i = W *m z i) -> forall i j : 'I_2, False).
Proof.
move=> /(_ 0 (fun=> 0) (fun=> 0) (fun=> 0)) no; apply: (no _ 0 0) => i.
by rewrite mul0mx.
Qed.

Theorem bilinear :
  forall (F : numFieldType) (n d : nat) (X : 'M[F]_(n, d)) (G : 'I_n -> 'M[F]_d),
  let S := \matrix_(i, j) (row i X *m G i *m (row j X)^T) 0 0 : 'M[F]_n in
  [/\ exists A B : 'M[F]_(n, d), S = A *m B^T,
      exists A B : 'M[F]_(n, d + d),
        \matrix_(i, j) (2%:R^-1 * (row i X *m (G i + G j) *m (row j X)^T) 0 0) = A *m B^T,
      forall G_0 : 'M[F]_d, (forall i, G i = G_0) ->
        exists A B : 'M[F]_(n, d),
          \matrix_(i, j) (2%:R^-1 * (row i X *m (G i + G j) *m (row j X)^T) 0 0) = A *m B^T
    & forall (r : nat) (lambda : F) (U : 'M[F]_(d, r)) (C : 'I_n -> 'M[F]_r),
        (forall i, G i = lambda%:M + U *m (C i + (C i)^T) *m U^T) ->
        exists A B : 'M[F]_(n, d + r),
          \matrix_(i, j) (2%:R^-1 * (row i X *m (G i + G j) *m (row j X)^T) 0 0) = A *m B^T].
Proof.
move=> F n d X G S.
have two0 : 2%:R != 0 :> F by rewrite pnatr_eq0.
have entry k (A B : 'M[F]_(n, k)) i j : (A *m B^T) i j = (row i A *m (row j B)^T) 0 0.
  by rewrite !mxE; apply: eq_bigr => a _; rewrite !mxE.
have rowE k (f : 'I_n -> 'rV[F]_k) i : row i (\matrix_i f i) = f i by rewrite rowK.
have wide k l (A B : 'M[F]_(n, k)) (A' B' : 'M[F]_(n, l)) i j :
    (row_mx A A' *m (row_mx B B')^T) i j
    = (row i A *m (row j B)^T) 0 0 + (row i A' *m (row j B')^T) 0 0.
  by rewrite tr_row_mx mul_row_col mxE !entry.
split.
- exists (\matrix_i (row i X *m G i)), X; apply/matrixP => i j.
  by rewrite entry rowE mxE.
- exists (row_mx (\matrix_i (2%:R^-1 *: (row i X *m G i))) (2%:R^-1 *: X)).
  exists (row_mx X (\matrix_j (row j X *m (G j)^T))); apply/matrixP => i j.
  rewrite wide !rowE mxE mulmxDr mulmxDl entryD mulrDr; congr (_ + _).
    by rewrite -scalemxAl entryZ.
  by rewrite linearZ /= -scalemxAl entryZ trmx_mul trmxK mulmxA.
- move=> G_0 GE; exists (X *m G_0), X; apply/matrixP => i j.
  by rewrite entry mxE !GE row_mul -mulr2n -scaler_nat -scalemxAr -scalemxAl entryZ mulKf.
- move=> r lambda U C GE; pose D i := C i + (C i)^T.
  have DT i : (D i)^T = D i by rewrite /D trD trmxK addrC.
  pose Q k i j := (row i X *m (U *m D k *m U^T) *m (row j X)^T) 0 0.
  exists (row_mx X (\matrix_i (2%:R^-1 *: (row i X *m U *m D i)))).
  exists (row_mx
    (\matrix_j (lambda *: row j X + 2%:R^-1 *: (row j X *m U *m D j *m U^T))) (X *m U)).
  apply/matrixP => i j; rewrite wide !rowE mxE !GE -!/(D _).
  have inner k : (row i X *m (lambda%:M + U *m D k *m U^T) *m (row j X)^T) 0 0
      = lambda * (row i X *m (row j X)^T) 0 0 + Q k i j.
    by rewrite mulmxDr mulmxDl entryD mul_mx_scalar -scalemxAl entryZ.
  rewrite mulmxDr mulmxDl entryD !inner trD !trZ mulmxDr -!scalemxAr -scalemxAl entryD !entryZ.
  rewrite !trmx_mul trmxK DT row_mul trmx_mul !mulmxA addrACA mulrDr -mulr2n.
  have half b : 2%:R^-1 * (b *+ 2) = b :> F.
    by rewrite mulrnAr -mulrnAl -[2%:R^-1 *+ 2]mulr_natl mulfV // mul1r.
  rewrite half -addrA; congr (_ + _).
  by rewrite addrC mulrDr /Q !mulmxA.
Qed.

Lemma bilinear_witness :
  ~ (forall (X : 'M[rat]_(3, 2)) (G : 'I_3 -> 'M[rat]_2),
     (forall G_0 : 'M[rat]_2, (forall i, G i = G_0) -> False)
     \/ (forall (r : nat) (lambda : rat) (U : 'M[rat]_(2, r.+2)) (C : 'I_3 -> 'M[rat]_r.+2),
          (forall i, G i = lambda%:M + U *m (C i + (C i)^T) *m U^T) -> False)).
Proof.
move=> /(_ 0 (fun=> 0)) [/(_ 0 (fun _ => erefl))//|/(_ 0%N 0 0 (fun=> 0)) no].
by apply: no => i; rewrite !mul0mx addr0 raddf0.
Qed.
