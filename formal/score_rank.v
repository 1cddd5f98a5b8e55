From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Lemma entry_trmx (F : fieldType) (A : 'M[F]_1) : A^T 0 0 = A 0 0.
Proof. by rewrite mxE. Qed.

Theorem features :
  forall (F : fieldType) (n d g : nat) (gamma : 'M[F]_(n, g)) (B : 'I_g -> 'M[F]_d)
    (x : 'I_n -> 'cV[F]_d),
  let G i := \sum_q gamma i q *: B q in
  let S i j := - 2%:R^-1 * (((x i - x j)^T *m G i *m (x i - x j)) 0 0) in
  forall i j,
  S i j = - 2%:R^-1 * (((x i)^T *m G i *m x i) 0 0)
          + ((2%:R^-1 *: ((G i + (G i)^T) *m x i))^T *m x j) 0 0
          - 2%:R^-1 * (\sum_q gamma i q * (((x j)^T *m B q *m x j) 0 0)).
Proof.
move=> F n d g gamma B x G S i j.
have entry (A C : 'M[F]_1) : (A + C) 0 0 = A 0 0 + C 0 0 by rewrite mxE.
have entryN (A : 'M[F]_1) : (- A) 0 0 = - A 0 0 by rewrite mxE.
have own : \sum_q gamma i q * (((x j)^T *m B q *m x j) 0 0) = ((x j)^T *m G i *m x j) 0 0.
  rewrite /G mulmx_sumr mulmx_suml summxE; apply: eq_bigr => q _.
  by rewrite -scalemxAr -scalemxAl [RHS]mxE.
have cross : ((2%:R^-1 *: ((G i + (G i)^T) *m x i))^T *m x j) 0 0
    = 2%:R^-1 * (((x i)^T *m G i *m x j) 0 0 + ((x j)^T *m G i *m x i) 0 0).
  have tr1 : ((G i + (G i)^T) *m x i)^T = (x i)^T *m (G i)^T + (x i)^T *m G i.
    by rewrite mulmxDl [(_ + _)^T]raddfD /= !trmx_mul trmxK.
  rewrite [(_ *: _)^T]linearZ /= -scalemxAl mxE; congr (_ * _).
  rewrite tr1 mulmxDl entry addrC; congr (_ + _).
  by rewrite -[RHS]entry_trmx !trmx_mul trmxK mulmxA.
have sum4 (h a b c e : F) : - h * (a - c - (b - e)) = - h * a + h * (b + c) - h * e.
  rewrite !mulrBr mulrDr !mulNr !opprK opprD opprK -!addrA; congr (_ + _).
  by rewrite addrCA.
rewrite own cross /S [(_ - _)^T]raddfB /= mulmxBl !mulmxBr mulmxBl !(entry, entryN).
by rewrite -sum4 mulmxBl !(entry, entryN).
Qed.

Lemma features_witness :
  ~ (forall (gamma : 'M[rat]_(3, 2)) (B : 'I_2 -> 'M[rat]_2) (x : 'I_3 -> 'cV[rat]_2),
     forall i j : 'I_3, False).
Proof. by move=> /(_ 0 (fun=> 0) (fun=> 0) 0 0). Qed.

Theorem upper_bound :
  forall (F : fieldType) (n d g : nat) (gamma : 'M[F]_(n, g)) (B : 'I_g -> 'M[F]_d)
    (x : 'I_n -> 'cV[F]_d),
  let G i := \sum_q gamma i q *: B q in
  let S := \matrix_(i, j) (- 2%:R^-1 * (((x i - x j)^T *m G i *m (x i - x j)) 0 0)) in
  (\rank S <= 1 + d + g)%N
  /\ exists (Q K : 'M[F]_(n, 1 + d + g)), S = Q *m K^T.
Proof.
move=> F n d g gamma B x G S.
pose alpha := \col_i (- 2%:R^-1 * (((x i)^T *m G i *m x i) 0 0)) : 'cV[F]_n.
pose beta := \matrix_i ((2%:R^-1 *: ((G i + (G i)^T) *m x i))^T) : 'M[F]_(n, d).
pose own := \matrix_(j, q) (- 2%:R^-1 * (((x j)^T *m B q *m x j) 0 0)) : 'M[F]_(n, g).
pose Q := row_mx (row_mx alpha beta) gamma.
pose one := const_mx 1 : 'cV[F]_n.
pose K := row_mx (row_mx one (\matrix_j (x j)^T)) own.
have SQK : S = Q *m K^T.
  rewrite /Q /K !tr_row_mx mul_row_col mul_row_col; apply/matrixP => i j.
  rewrite mxE features [RHS]mxE; congr (_ + _).
    rewrite [RHS]mxE; congr (_ + _); first by rewrite [RHS]mxE big_ord1 !mxE mulr1.
    by rewrite !mxE; apply: eq_bigr => a _; rewrite !mxE.
  rewrite [RHS]mxE mulr_sumr -sumrN; apply: eq_bigr => q _.
  by rewrite !mxE -mulNr mulrCA.
split; last by exists Q, K.
by rewrite SQK (leq_trans (mxrankM_maxl _ _)) ?rank_leq_col.
Qed.

Lemma upper_bound_witness :
  ~ (forall (gamma : 'M[rat]_(3, 2)) (B : 'I_2 -> 'M[rat]_2) (x : 'I_3 -> 'cV[rat]_2), False).
Proof. by move=> /(_ 0 (fun=> 0) (fun=> 0)). Qed.

Theorem after_softmax :
  forall (F : fieldType) (n d g : nat) (gamma : 'M[F]_(n, g)) (B : 'I_g -> 'M[F]_d)
    (x : 'I_n -> 'cV[F]_d),
  let G i := \sum_q gamma i q *: B q in
  let S := \matrix_(i, j) (- 2%:R^-1 * (((x i - x j)^T *m G i *m (x i - x j)) 0 0)) in
  let u := \col_i (2%:R^-1 * (((x i)^T *m G i *m x i) 0 0)) in
  exists (Q K : 'M[F]_(n, d + g)), S + u *m const_mx 1 = Q *m K^T.
Proof.
move=> F n d g gamma B x G S u.
pose beta := \matrix_i ((2%:R^-1 *: ((G i + (G i)^T) *m x i))^T) : 'M[F]_(n, d).
pose own := \matrix_(j, q) (- 2%:R^-1 * (((x j)^T *m B q *m x j) 0 0)) : 'M[F]_(n, g).
exists (row_mx beta gamma), (row_mx (\matrix_j (x j)^T) own).
rewrite tr_row_mx mul_row_col; apply/matrixP => i j.
rewrite mxE [S i j]mxE features [(u *m _) i j]mxE big_ord1 [u i 0]mxE [const_mx _ _ _]mxE mulr1.
rewrite addrC !addrA mulNr subrr add0r [RHS]mxE; congr (_ + _).
  by rewrite !mxE; apply: eq_bigr => a _; rewrite !mxE.
rewrite [RHS]mxE mulr_sumr -sumrN; apply: eq_bigr => q _.
by rewrite !mxE -mulNr mulrCA.
Qed.

Lemma after_softmax_witness :
  ~ (forall (gamma : 'M[rat]_(3, 2)) (B : 'I_2 -> 'M[rat]_2) (x : 'I_3 -> 'cV[rat]_2), False).
Proof. by move=> /(_ 0 (fun=> 0) (fun=> 0)). Qed.

Theorem symmetrised :
  forall (F : fieldType) (n w : nat) (S : 'M[F]_n) (Q K : 'M[F]_(n, w)),
  S = Q *m K^T ->
  (exists (Q' K' : 'M[F]_(n, w + w)), 2%:R^-1 *: (S + S^T) = Q' *m K'^T)
  /\ (\rank (2%:R^-1 *: (S + S^T))%R <= 2 * w)%N.
Proof.
move=> F n w S Q K SQK.
have factors : 2%:R^-1 *: (S + S^T) = row_mx (2%:R^-1 *: Q) (2%:R^-1 *: K) *m (row_mx K Q)^T.
  rewrite tr_row_mx mul_row_col SQK trmx_mul trmxK scalerDr.
  by rewrite -!scalemxAl.
split; first by exists (row_mx (2%:R^-1 *: Q) (2%:R^-1 *: K)), (row_mx K Q).
by rewrite factors mul2n -addnn (leq_trans (mxrankM_maxl _ _)) ?rank_leq_col.
Qed.

Lemma symmetrised_witness :
  ~ (forall (S : 'M[rat]_3) (Q K : 'M[rat]_(3, 2)), S = Q *m K^T -> False).
Proof. by move=> /(_ 0 0 0); apply; rewrite mul0mx. Qed.

Theorem symmetrised__scores :
  forall (F : fieldType) (n d g : nat) (gamma : 'M[F]_(n, g)) (B : 'I_g -> 'M[F]_d)
    (x : 'I_n -> 'cV[F]_d),
  let G i := \sum_q gamma i q *: B q in
  let S := \matrix_(i, j) (- 2%:R^-1 * (((x i - x j)^T *m G i *m (x i - x j)) 0 0)) in
  (\rank (2%:R^-1 *: (S + S^T))%R <= 2 * (1 + d + g))%N.
Proof.
move=> F n d g gamma B x /=; have [_ [Q [K SE]]] := upper_bound gamma B x.
exact: (proj2 (symmetrised SE)).
Qed.

Lemma symmetrised__scores_witness :
  ~ (forall (gamma : 'M[rat]_(3, 2)) (B : 'I_2 -> 'M[rat]_2) (x : 'I_3 -> 'cV[rat]_2), False).
Proof. by move=> /(_ 0 (fun=> 0) (fun=> 0)). Qed.
