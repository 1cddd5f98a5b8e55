From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Lemma numerator (F : fieldType) (p m w : nat) (psi : 'M[F]_(p, m)) (mu : 'I_p -> F)
    (v : 'I_p -> 'rV[F]_w) (q : 'rV[F]_m) :
  \sum_j (mu j * (q *m psi^T) 0 j) *: v j = q *m \sum_j mu j *: ((row j psi)^T *m v j).
Proof.
rewrite mulmx_sumr; apply: eq_bigr => j _; rewrite -scalemxAr mulmxA -scalerA; congr (_ *: _).
have -> : q *m (row j psi)^T = ((q *m psi^T) 0 j)%:M.
  apply/matrixP => a b; rewrite !ord1 !mxE mulr1n.
  by apply: eq_bigr => c _; rewrite !mxE.
by rewrite mul_scalar_mx.
Qed.

Theorem reassociation :
  forall (F : fieldType) (n p m w : nat) (phi : 'M[F]_(n, m)) (psi : 'M[F]_(p, m))
    (V : 'M[F]_(p, w)) (mu : 'I_p -> F),
  let kappa := phi *m psi^T in
  let M := \sum_j mu j *: ((row j psi)^T *m row j V) in
  let z := \sum_j mu j *: (row j psi)^T in
  [/\ (phi *m psi^T) *m V = phi *m (psi^T *m V),
      forall i, \sum_j (mu j * kappa i j) *: row j V = row i (phi *m M)
    & forall i, \sum_j mu j * kappa i j = (phi *m z) i 0].
Proof.
move=> F n p m w phi psi V mu kappa M z.
have kappaE i j : kappa i j = (row i phi *m psi^T) 0 j by rewrite -row_mul [RHS]mxE.
split=> [|i|i]; first exact/esym/mulmxA.
  rewrite row_mul -(numerator psi mu (fun j => row j V)).
  by apply: eq_bigr => j _; rewrite kappaE.
rewrite /z mxE; under [RHS]eq_bigr => a _ do rewrite summxE mulr_sumr.
rewrite exchange_big; apply: eq_bigr => j _ /=; rewrite mxE mulr_sumr.
by apply: eq_bigr => a _; rewrite !mxE mulrCA.
Qed.

Lemma reassociation_witness :
  ~ (forall (phi : 'M[rat]_(2, 2)) (psi : 'M[rat]_(3, 2)) (V : 'M[rat]_(3, 2)) (mu : 'I_3 -> rat),
     (forall i : 'I_2, False) \/ (forall i : 'I_2, False)).
Proof. by move=> /(_ 0 0 0 (fun=> 0)) [/(_ 0)|/(_ 0)]. Qed.

Theorem moments :
  forall (F : fieldType) (n p p' m w : nat) (phi : 'M[F]_(n, m)) (psi : 'M[F]_(p, m))
    (psi' : 'M[F]_(p', m)) (mu : 'I_p -> F) (mu' : 'I_p' -> F) (v : 'I_p -> 'rV[F]_w)
    (v' : 'I_p' -> 'rV[F]_w),
  let kappa := phi *m psi^T in let kappa' := phi *m psi'^T in
  \sum_j mu j *: (row j psi)^T = \sum_j mu' j *: (row j psi')^T ->
  (forall i, \sum_j mu j * kappa i j = \sum_j mu' j * kappa' i j)
  /\ (\sum_j mu j *: ((row j psi)^T *m v j) = \sum_j mu' j *: ((row j psi')^T *m v' j) ->
      forall i, \sum_j (mu j * kappa i j) *: v j = \sum_j (mu' j * kappa' i j) *: v' j).
Proof.
move=> F n p p' m w phi psi psi' mu mu' v v' kappa kappa' same_z.
have [_ _ mass] := reassociation phi psi (0 : 'M_(p, w)) mu.
have [_ _ mass'] := reassociation phi psi' (0 : 'M_(p', w)) mu'.
split=> [i|same_M i]; first by rewrite mass mass' same_z.
have num r (s : 'M_(r, m)) (nu : 'I_r -> F) (u : 'I_r -> 'rV_w) :
    \sum_j (nu j * (phi *m s^T) i j) *: u j = row i phi *m \sum_j nu j *: ((row j s)^T *m u j).
  by rewrite -numerator; apply: eq_bigr => j _; rewrite -row_mul [row _ _ _ _]mxE.
by rewrite !num same_M.
Qed.

Lemma moments_witness :
  ~ (forall (phi : 'M[rat]_(2, 2)) (psi psi' : 'M[rat]_(3, 2)) (mu mu' : 'I_3 -> rat)
       (v v' : 'I_3 -> 'rV[rat]_2),
     \sum_j mu j *: (row j psi)^T = \sum_j mu' j *: (row j psi')^T ->
     (forall i : 'I_2, False)
     \/ (\sum_j mu j *: ((row j psi)^T *m v j) = \sum_j mu' j *: ((row j psi')^T *m v' j) ->
         forall i : 'I_2, False)).
Proof.
by move=> /(_ 0 0 0 (fun=> 0) (fun=> 0) (fun=> 0) (fun=> 0) erefl) [/(_ 0)|/(_ erefl 0)].
Qed.

Theorem counts :
  forall n p m w : nat,
  [/\ (\sum_(j < p) \sum_(a < m) \sum_(c < w) 1
       + \sum_(i < n) \sum_(a < m) \sum_(c < w) 1 + \sum_(i < n) \sum_(a < m) 1
       = (n + p) * m * w + n * m)%N,
      (\sum_(i < n) \sum_(j < p) \sum_(a < m) 1 + \sum_(i < n) \sum_(j < p) \sum_(c < w) 1
       = n * p * (m + w))%N
    & ((n * n * (m + w))%N%:R - ((n + n) * m * w + n * m)%N%:R
       = n%:R * ((n * (m + w))%N%:R - (2 * m * w)%N%:R - m%:R) :> int)%R].
Proof.
move=> n p m w; split.
- by rewrite !sum_nat_const !card_ord !muln1 !mulnDl !mulnA [(p * m * w + _)%N]addnC.
- by rewrite !sum_nat_const !card_ord !muln1 mulnDr -!mulnA.
- rewrite !mulrBr -!natrM -addrA -opprD -natrD mulnA; congr (_ - (_)%:R).
  by rewrite mulnDl addnn -mul2n !mulnA [(2 * n)%N]mulnC.
Qed.

Lemma counts_witness : ~ (forall n p m w : nat, False).
Proof. by move=> /(_ 2%N 2%N 2%N 2%N). Qed.

Lemma positive_sum (F : numDomainType) (n : nat) (f : 'I_n.+1 -> F) :
  (forall j, 0 < f j) -> 0 < \sum_j f j.
Proof.
move=> f0; rewrite big_ord_recl; apply: lt_le_trans (f0 0) _.
by rewrite -subr_ge0 addrAC subrr add0r sumr_ge0 // => j _; rewrite ltW.
Qed.

Theorem positivity :
  (forall (F : numFieldType) (n p m w : nat) (phi : 'M[F]_(n, m.+1)) (psi : 'M[F]_(p.+1, m.+1))
     (mu : 'I_p.+1 -> F) (v : 'I_p.+1 -> 'rV[F]_w),
   let kappa := phi *m psi^T in
   let M := \sum_j mu j *: ((row j psi)^T *m v j) in
   (forall i a, 0 < phi i a) -> (forall j a, 0 < psi j a) -> (forall j, 0 < mu j) ->
   forall i, 0 < \sum_j mu j * kappa i j
     /\ exists R : 'rV[F]_w, (\sum_j mu j * kappa i j) *: R = row i (phi *m M))
  /\ (forall (F : numFieldType) (q : 'rV[F]_2) (k : 'M[F]_2) (mu : 'I_2 -> F)
        (v : 'I_2 -> 'rV[F]_1),
      q 0 0 = 1 -> q 0 1 = 0 -> k 0 0 = 1 -> k 0 1 = 0 -> k 1 0 = -1 -> k 1 1 = 1 ->
      (forall j, mu j = 1) -> v 0 = const_mx 1 -> v 1 = 0 ->
      let kappa := q *m k^T in
      \sum_j mu j * kappa 0 j = 0 /\ \sum_j (mu j * kappa 0 j) *: v j != 0).
Proof.
split=> [F n p m w phi psi mu v kappa M phi0 psi0 mu0 i | F q k mu v].
  have mass : 0 < \sum_j mu j * kappa i j.
    apply: positive_sum => j; rewrite mulr_gt0 // mxE positive_sum // => a.
    by rewrite mxE mulr_gt0.
  split=> //; exists ((\sum_j mu j * kappa i j)^-1 *: row i (phi *m M)).
  by rewrite scalerA mulfV ?scale1r // lt0r_neq0.
move=> q0 q1 k00 k01 k10 k11 mu1 v0 v1 kappa.
have K0 : kappa 0 0 = 1 by rewrite mxE sum2 !mxE q0 q1 k00 k01 mulr0 addr0 mulr1.
have K1 : kappa 0 1 = -1 by rewrite mxE sum2 !mxE q0 q1 k10 k11 mul0r addr0 mul1r.
rewrite !sum2 !mu1 !mul1r K0 K1 v0 v1 scaler0 addr0 scale1r subrr; split=> //.
by apply/eqP => /rowP /(_ 0) /eqP; rewrite !mxE oner_eq0.
Qed.

Lemma positivity_witness :
  ~ ((forall (F : numFieldType) (n p m w : nat) (phi : 'M[F]_(n.+2, m.+3))
        (psi : 'M[F]_(p.+3, m.+3)) (mu : 'I_p.+3 -> F) (v : 'I_p.+3 -> 'rV[F]_w.+2),
      (forall i a, 0 < phi i a) -> (forall j a, 0 < psi j a) -> (forall j, 0 < mu j) ->
      forall i : 'I_n.+2, False)
     \/ (forall (F : numFieldType) (q : 'rV[F]_2) (k : 'M[F]_2) (mu : 'I_2 -> F)
           (v : 'I_2 -> 'rV[F]_1),
         q 0 0 = 1 -> q 0 1 = 0 -> k 0 0 = 1 -> k 0 1 = 0 -> k 1 0 = -1 -> k 1 1 = 1 ->
         (forall j, mu j = 1) -> v 0 = const_mx 1 -> v 1 = 0 -> False)).
Proof.
case=> [/(_ rationals 0%N 0%N 0%N 0%N (const_mx 1) (const_mx 1) (fun=> 1) (fun=> 0)) no|no].
  by apply: (no _ _ _ 0) => // *; rewrite mxE ltr01.
pose k := \matrix_(i < 2, j < 2) (if j == 0 then if i == 0 then 1 else -1 else (i == 1)%:R)
  : 'M[rat]_2.
have := no rationals (\row_j (j == 0)%:R) k (fun=> 1) (fun j => if j == 0 then const_mx 1 else 0).
by rewrite !mxE; apply.
Qed.
