From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* A rational exponential for witnesses: 2 ^ x, defined on the integers. *)
Definition whole (x : rat) : bool := denq x == 1.
Definition power (x : rat) : rat := 2%:R ^ numq x.

Lemma wholeE (x : rat) : whole x -> x = (numq x)%:~R.
Proof. by move=> /eqP one; rewrite -[LHS]divq_num_den one divr1. Qed.

Lemma whole_int (k : int) : whole k%:~R.
Proof. by rewrite /whole denq_int. Qed.

Lemma whole0 : whole 0.
Proof. exact: (whole_int 0). Qed.

Lemma wholeB (x y : rat) : whole x -> whole y -> whole (x - y).
Proof. by move=> /wholeE -> /wholeE ->; rewrite -rmorphB whole_int. Qed.

Lemma power_gt0 (x : rat) : whole x -> 0 < power x.
Proof. by move=> _; rewrite exprz_gt0. Qed.

Lemma powerD (x y : rat) : whole x -> whole y -> power (x + y) = power x * power y.
Proof.
move=> /wholeE -> /wholeE ->; rewrite /power -rmorphD !numq_int.
by rewrite expfzDr.
Qed.

Lemma power_inj (x y : rat) : whole x -> whole y -> power x = power y -> x = y.
Proof.
move=> /wholeE -> /wholeE ->; rewrite /power !numq_int => /(@ieexprIz _ 2%:R) -> //.
Qed.
