From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Lemma expand_square (F : fieldType) (m : nat) (p v : 'I_m -> F) (t s : F) :
  \sum_j p j * (t + s - v j) ^+ 2
  = \sum_j p j * (t - v j) ^+ 2 + 2%:R * s * (\sum_j p j * (t - v j)) + s ^+ 2 * \sum_j p j.
Proof.
rewrite !mulr_sumr -!big_split; apply: eq_bigr => j _ /=.
rewrite addrAC sqrrD mulrDr [X in X + _ = _]mulrDr; congr (_ + _ + _); last by rewrite mulrC.
by rewrite mulrnAr -[LHS]mulr_natl -mulrA; congr (_ * _); rewrite [LHS]mulrA [LHS]mulrC.
Qed.

Lemma square_eq0 (F : realFieldType) (d : nat) (x : 'rV[F]_d) :
  \sum_c x 0 c ^+ 2 <= 0 -> x = 0.
Proof.
move=> le0; apply/rowP => c; rewrite mxE.
have : \sum_c x 0 c ^+ 2 == 0 by rewrite eq_le le0 sumr_ge0 // => b _; rewrite sqr_ge0.
rewrite psumr_eq0 => [/allP /(_ c (mem_index_enum c)) /=|b _]; last by rewrite sqr_ge0.
by rewrite sqrf_eq0 => /eqP.
Qed.

Lemma expand (F : fieldType) (m d : nat) (p : 'I_m -> F) (v : 'I_m -> 'rV[F]_d) (t w : 'rV[F]_d) :
  \sum_j p j * (\sum_c (t + w - v j) 0 c ^+ 2)
  = \sum_j p j * (\sum_c (t - v j) 0 c ^+ 2)
    + 2%:R * (\sum_c w 0 c * (\sum_j p j *: (t - v j)) 0 c) + (\sum_c w 0 c ^+ 2) * \sum_j p j.
Proof.
have swap (u : 'rV_d) : \sum_j p j * (\sum_c (u - v j) 0 c ^+ 2)
    = \sum_c \sum_j p j * (u 0 c - v j 0 c) ^+ 2.
  rewrite exchange_big; apply: eq_bigr => j _; rewrite mulr_sumr.
  by apply: eq_bigr => c _; rewrite !mxE.
rewrite !swap mulr_suml mulr_sumr -!big_split; apply: eq_bigr => c _ /=.
rewrite mxE (expand_square p (fun j => v j 0 c)) summxE mulrA; congr (_ + _ * _ + _).
by apply: eq_bigr => j _; rewrite !mxE.
Qed.

Theorem least :
  forall (F : realFieldType) (m d : nat) (mu kappa : 'I_m -> F) (v : 'I_m -> 'rV[F]_d),
  let Z := \sum_j mu j * kappa j in
  let R := Z^-1 *: \sum_j (mu j * kappa j) *: v j in
  let square (x : 'rV[F]_d) := \sum_c x 0 c ^+ 2 in
  let energy t := \sum_j mu j * kappa j * square (t - v j) in
  0 < Z -> forall t,
  [/\ energy t = Z * square (t - R) + energy R, energy R <= energy t
    & energy t = energy R -> t = R].
Proof.
move=> F m d mu kappa v Z R square energy Z0 t.
have balance : \sum_j (mu j * kappa j) *: (R - v j) = 0.
  under eq_bigr => j _ do rewrite scalerBr.
  by rewrite sumrB -scaler_suml /R scalerA mulfV ?lt0r_neq0 // scale1r subrr.
have split_at : energy t = Z * square (t - R) + energy R.
  rewrite /energy /square -[in LHS](subrK R t) [t - R + R]addrC.
  rewrite (expand (fun j => mu j * kappa j) v R) balance.
  rewrite [X in 2%:R * X]big1 ?mulr0 ?addr0 => [|c _]; last by rewrite [X in _ * X]mxE mulr0.
  by rewrite mulrC addrC.
have square0 : 0 <= square (t - R) by rewrite sumr_ge0 // => c _; rewrite sqr_ge0.
split=> //; first by rewrite split_at -subr_ge0 addrK mulr_ge0 // ltW.
rewrite split_at => /(canRL (addrK _)); rewrite subrr => /eqP.
rewrite mulf_eq0 (negbTE (lt0r_neq0 Z0)) => /eqP eq0.
by apply/eqP; rewrite -subr_eq0; apply/eqP/square_eq0; rewrite -[X in X <= _]/(square _) eq0.
Qed.

Lemma least_witness :
  ~ (forall (mu kappa : 'I_3 -> rat) (v : 'I_3 -> 'rV[rat]_2),
     let Z := \sum_j mu j * kappa j in
     let R := Z^-1 *: \sum_j (mu j * kappa j) *: v j in
     let square (x : 'rV[rat]_2) := \sum_c x 0 c ^+ 2 in
     let energy t := \sum_j mu j * kappa j * square (t - v j) in
     0 < Z -> forall t, energy t = energy R -> False).
Proof.
move=> /(_ (fun=> 1) (fun=> 1) (fun=> 0)) no.
have Z0 : 0 < \sum_(j < 3) 1 * 1 :> rat by rewrite sum3.
exact: (no Z0 _ erefl).
Qed.

Theorem stationary :
  forall (F : realFieldType) (m d : nat) (mu kappa : 'I_m -> F) (v : 'I_m -> 'rV[F]_d),
  let Z := \sum_j mu j * kappa j in
  let R := Z^-1 *: \sum_j (mu j * kappa j) *: v j in
  let energy (t : 'rV[F]_d) := \sum_j mu j * kappa j * (\sum_c (t - v j) 0 c ^+ 2) in
  let slope t := \sum_j (mu j * kappa j) *: (t - v j) in
  let along (t w : 'rV[F]_d) := 2%:R * (\sum_c w 0 c * slope t 0 c) in
  [/\ forall t w tau,
        energy (t + tau *: w)
        = energy t + tau * along t w + tau ^+ 2 * (Z * (\sum_c w 0 c ^+ 2)),
      0 < Z -> forall t, slope t = 0 <-> t = R
    & 0 < Z -> forall t, (forall w, along t w = 0) <-> t = R].
Proof.
move=> F m d mu kappa v Z R energy slope along.
have root t : 0 < Z -> slope t = 0 <-> t = R.
  move=> Z0; have -> : slope t = Z *: (t - R).
    rewrite /slope; under eq_bigr => j _ do rewrite scalerBr.
    by rewrite sumrB -scaler_suml scalerBr /R scalerA mulfV ?lt0r_neq0 // scale1r.
  split=> [/eqP | ->]; last by rewrite subrr scaler0.
  by rewrite scaler_eq0 (negbTE (lt0r_neq0 Z0)) subr_eq0 => /eqP.
split=> [t w tau | Z0 t | Z0 t]; first last.
- rewrite -root //; split=> [flat | zero w]; last first.
    by rewrite /along zero big1 ?mulr0 // => c _; rewrite mxE mulr0.
  apply: square_eq0; have /eqP := flat (slope t).
  by rewrite mulf_eq0 pnatr_eq0 => /eqP le0; under eq_bigr => c _ do rewrite expr2; rewrite le0.
- exact: root.
- rewrite /energy (expand (fun j => mu j * kappa j) v t) -/(slope t) -/Z; congr (_ + _ + _).
    rewrite /along mulrCA; congr (_ * _); rewrite mulr_sumr.
    by apply: eq_bigr => c _; rewrite mxE mulrA.
  rewrite [Z * _]mulrC mulrA; congr (_ * _); rewrite mulr_sumr.
  by apply: eq_bigr => c _; rewrite mxE exprMn.
Qed.

Lemma stationary_witness :
  ~ (forall (mu kappa : 'I_3 -> rat) (v : 'I_3 -> 'rV[rat]_2),
     let Z := \sum_j mu j * kappa j in
     (forall (t w : 'rV[rat]_2) (tau : rat), False)
     \/ ((0 < Z -> forall t : 'rV[rat]_2, False) \/ (0 < Z -> forall t : 'rV[rat]_2, False))).
Proof.
move=> /(_ (fun=> 1) (fun=> 1) (fun=> 0)) /= [/(_ 0 0 0) //|].
by rewrite sum3 => -[/(_ isT 0)|/(_ isT 0)].
Qed.
