From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import inner_products powers.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Centring.
Variables (F : numFieldType) (m : nat).
Let C := 1%:M - const_mx m.+1%:R^-1 : 'M[F]_m.+1.

Lemma ones_centred : const_mx 1 *m C = 0 :> 'rV[F]_m.+1.
Proof.
rewrite mulmxBr mulmx1; apply/rowP => j; rewrite !mxE.
under eq_bigr => k _ do rewrite !mxE mul1r.
by rewrite sumr_const card_ord -mulr_natl mulfV ?subrr // pnatr_eq0.
Qed.

Lemma shift_centred n (S : 'M[F]_(n, m.+1)) (u : 'cV[F]_n) : (S + u *m const_mx 1) *m C = S *m C.
Proof. by rewrite mulmxDl -mulmxA ones_centred mulmx0 addr0. Qed.

Lemma centred_shift n (S : 'M[F]_(n, m.+1)) :
  S *m C = S + (\col_i - (m.+1%:R^-1 * \sum_j S i j)) *m const_mx 1.
Proof.
rewrite mulmxBr mulmx1; congr (_ + _); apply/matrixP => i j; rewrite !mxE big_ord1 !mxE mulr1.
by congr (- _); rewrite mulr_sumr; apply: eq_bigr => k _; rewrite mxE mulrC.
Qed.

Lemma centre_rank : \rank C = m.
Proof.
apply/eqP; rewrite eqn_leq; apply/andP; split.
  have := mulmx0_rank_max ones_centred; rewrite rank_rV.
  have -> : const_mx 1 != 0 :> 'rV[F]_m.+1.
    by apply/eqP => /rowP /(_ 0); rewrite !mxE => /eqP; rewrite oner_eq0.
  by [].
pose X := (const_mx m.+1%:R^-1 : 'cV[F]_m.+1) *m (const_mx 1 : 'rV[F]_m.+1).
have CX : C + X = 1%:M.
  by apply/matrixP => i j; rewrite !mxE big_ord1 !mxE mulr1 subrK.
have := mxrank_add C X; rewrite CX mxrank1 => le.
rewrite -(leq_add2r 1) addn1 (leq_trans le) // leq_add2l (leq_trans (mxrankM_maxl _ _)) //.
by rewrite rank_leq_col.
Qed.
End Centring.

Theorem centred :
  forall (F : numFieldType) (n m : nat) (S : 'M[F]_(n, m.+1)),
  let C := 1%:M - const_mx m.+1%:R^-1 : 'M[F]_m.+1 in
  (forall u : 'cV[F]_n, (\rank (S *m C) <= \rank (S + u *m const_mx 1)%R)%N)
  /\ S *m C = S + (\col_i - (m.+1%:R^-1 * \sum_j S i j)) *m const_mx 1.
Proof.
move=> F n m S C; split=> [u|]; last exact: centred_shift.
by rewrite -(shift_centred S u) mxrankM_maxl.
Qed.

Lemma centred_witness : ~ (forall (S : 'M[rat]_(2, 3)) (u : 'cV[rat]_2), False).
Proof. by move=> /(_ 0 0). Qed.

Theorem width :
  forall (F : numFieldType) (n m : nat) (A : pred F) (e : F -> F) (S : 'M[F]_(n, m.+1)),
  (forall x y, A x -> A y -> A (x - y)) -> (forall x, A x -> 0 < e x) ->
  (forall x y, A x -> A y -> e (x + y) = e x * e y) ->
  (forall x y, A x -> A y -> e x = e y -> x = y) ->
  (forall i j, A (S i j)) -> (forall i, A (m.+1%:R^-1 * \sum_j S i j)) ->
  let C := 1%:M - const_mx m.+1%:R^-1 : 'M[F]_m.+1 in
  let softmax (S : 'M[F]_(n, m.+1)) := \matrix_(i, j) (e (S i j) / (\sum_k e (S i k))) in
  [/\ forall (w : nat) (Q : 'M[F]_(n, w)) (K : 'M[F]_(m.+1, w)),
        (forall i j, A ((Q *m K^T) i j)) ->
        softmax (Q *m K^T) = softmax S <-> exists u : 'cV[F]_n, Q *m K^T = S + u *m const_mx 1,
      forall (w : nat) (Q : 'M[F]_(n, w)) (K : 'M[F]_(m.+1, w)),
        (forall i j, A ((Q *m K^T) i j)) -> softmax (Q *m K^T) = softmax S ->
        (\rank (S *m C) <= w)%N
    & exists (Q : 'M[F]_(n, \rank (S *m C))) (K : 'M[F]_(m.+1, \rank (S *m C))),
        Q *m K^T = S *m C /\ softmax (Q *m K^T) = softmax S].
Proof.
move=> F n m A e S AB e0 eD inj AS Amean C softmax.
have A0 (i : 'I_n) : A 0 by rewrite -(subrr (S i ord0)) AB.
have AD (i : 'I_n) x y : A x -> A y -> A (x + y).
  by move=> Ax Ay; rewrite -[y]opprK -[- y]add0r !AB ?A0.
have total (T : 'M[F]_(n, m.+1)) i : (forall i j, A (T i j)) -> 0 < \sum_k e (T i k).
  by move=> AT; apply: (@sum_pos F m.+1 (fun k => e (T i k)) ord0) => [|j]; rewrite ?ltW ?e0.
have soft (T : 'M[F]_(n, m.+1)) : (forall i j, A (T i j)) ->
    softmax T = softmax S <-> exists u : 'cV[F]_n, T = S + u *m const_mx 1.
  move=> AT; split=> [/matrixP same | [u TE]].
    exists (\col_i (T i ord0 - S i ord0)); apply/matrixP => i j.
    rewrite !mxE big_ord1 !mxE mulr1.
    pose r := (\sum_k e (T i k)) / (\sum_k e (S i k)).
    have scaled k : e (T i k) = r * e (S i k).
      have := same i k; rewrite !mxE => /(canRL (divfK (lt0r_neq0 (total T i AT)))) ->.
      by rewrite /r mulrC mulrCA [RHS]mulrC.
    have : e (T i j + S i ord0) = e (S i j + T i ord0).
      by rewrite !eD // !scaled mulrAC mulrC mulrA.
    move=> /(inj _ _ (AD i _ _ (AT _ _) (AS _ _)) (AD i _ _ (AS _ _) (AT _ _))).
    by move=> /(canRL (addrK _)) ->; rewrite addrA.
  apply/matrixP => i j; have Tk k : T i k = S i k + u i 0.
    by rewrite TE !mxE big_ord1 !mxE mulr1.
  have Au : A (u i 0).
    by have -> : u i 0 = T i ord0 - S i ord0; [rewrite Tk addrAC subrr add0r | apply: AB].
  rewrite !mxE; under eq_bigr => k _ do rewrite Tk eD //.
  by rewrite Tk eD // -mulr_suml invfM mulrACA divff ?mulr1 // lt0r_neq0 ?e0.
split=> [w Q K AQ | w Q K AQ /(soft _ AQ) [u QK] |]; first exact: soft.
  rewrite -(shift_centred S u) -QK -mulmxA (leq_trans (mxrankM_maxl _ _)) //.
  by rewrite rank_leq_col.
have AC i j : A ((S *m C) i j) by rewrite centred_shift !mxE big_ord1 !mxE mulr1 AB.
exists (col_base (S *m C)), (row_base (S *m C))^T; rewrite trmxK mulmx_base; split=> //.
by apply/(soft _ AC); exists (\col_i - (m.+1%:R^-1 * \sum_j S i j)); exact: centred_shift.
Qed.

Lemma width_witness :
  ~ (forall (A : pred rat) (e : rat -> rat) (S : 'M[rat]_(2, 3)),
     (forall x y, A x -> A y -> A (x - y)) -> (forall x, A x -> 0 < e x) ->
     (forall x y, A x -> A y -> e (x + y) = e x * e y) ->
     (forall x y, A x -> A y -> e x = e y -> x = y) ->
     (forall i j, A (S i j)) -> (forall i, A (3%:R^-1 * \sum_j S i j)) ->
     let softmax (S : 'M[rat]_(2, 3)) := \matrix_(i, j) (e (S i j) / (\sum_k e (S i k))) in
     (forall (w : nat) (Q : 'M[rat]_(2, w.+2)) (K : 'M[rat]_(3, w.+2)),
        (forall i j, A ((Q *m K^T) i j)) -> False)
     \/ (forall (w : nat) (Q : 'M[rat]_(2, w.+2)) (K : 'M[rat]_(3, w.+2)),
           (forall i j, A ((Q *m K^T) i j)) -> softmax (Q *m K^T) = softmax S -> False)).
Proof.
move=> /(_ whole power 0 wholeB power_gt0 powerD power_inj) no.
case: no => [i j|i|/(_ 0%N 0 0) no|/(_ 0%N 0 0) no]; first by rewrite mxE.
- by rewrite big1 ?mulr0 // => j _; rewrite mxE.
- by apply: no => i j; rewrite mul0mx mxE.
- by apply: no => [i j|]; rewrite mul0mx // mxE.
Qed.

Theorem invertible :
  forall (F : numFieldType) (m : nat) (T : 'M[F]_m.+1), T \in unitmx ->
  let C := 1%:M - const_mx m.+1%:R^-1 : 'M[F]_m.+1 in \rank (T *m C) = m.
Proof.
move=> F m T TU C; rewrite -[RHS](centre_rank F m).
by rewrite (eqmxMfull C) ?row_full_unit.
Qed.

Lemma invertible_witness : ~ (forall T : 'M[rat]_3, T \in unitmx -> False).
Proof. by move=> /(_ 1%:M); rewrite unitmx1 => /(_ isT). Qed.

Theorem column_terms :
  forall (F : numFieldType) (n m : nat) (S : 'M[F]_(n, m.+1)),
  let C := 1%:M - const_mx m.+1%:R^-1 : 'M[F]_m.+1 in
  (forall (w : nat) (Q : 'M[F]_(n, w)) (K : 'M[F]_(m.+1, w)) (c : 'rV[F]_m.+1) (u : 'cV[F]_n),
     Q *m K^T + const_mx 1 *m c = S + u *m const_mx 1 -> (\rank (S *m C) <= w + 1)%N)
  /\ (forall s : F, exists (u : 'cV[F]_n) (c : 'rV[F]_m.+1),
        \matrix_(i < n, j < m.+1) (- s * (i%:R - j%:R)) = u *m const_mx 1 + const_mx 1 *m c).
Proof.
move=> F n m S C; split=> [w Q K c u eq | s].
  rewrite -(shift_centred S u) -eq (leq_trans (mxrankM_maxl _ _)) //.
  rewrite (leq_trans (mxrank_add _ _)) // leq_add //.
    by rewrite (leq_trans (mxrankM_maxl _ _)) ?rank_leq_col.
  by rewrite (leq_trans (mxrankM_maxl _ _)) ?rank_leq_col.
exists (\col_i (- s * i%:R)), (\row_j (s * j%:R)); apply/matrixP => i j.
by rewrite !mxE !big_ord1 !mxE mulr1 mul1r mulrBr !mulNr opprK.
Qed.

Lemma column_terms_witness :
  ~ (forall S : 'M[rat]_(2, 3),
     (forall (w : nat) (Q : 'M[rat]_(2, w.+2)) (K : 'M[rat]_(3, w.+2)) (c : 'rV[rat]_3)
        (u : 'cV[rat]_2), Q *m K^T + const_mx 1 *m c = S + u *m const_mx 1 -> False)
     \/ (forall s : rat, False)).
Proof.
move=> /(_ 0) [no|/(_ 0)//]; apply: (no 0%N 0 0 0 0).
by rewrite mul0mx mulmx0 mul0mx.
Qed.
