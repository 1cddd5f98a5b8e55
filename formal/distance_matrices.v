From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums inner_products.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem squared :
  forall (F : realFieldType) (n d : nat) (x : 'I_n -> 'cV[F]_d) (D : 'M[F]_n) (c : 'cV[F]_n),
  (forall i j, D i j = \sum_a (x i - x j) a 0 ^+ 2) -> \sum_i c i 0 = 0 ->
  (c^T *m D *m c) 0 0 = - 2%:R * (\sum_a (\sum_i c i 0 *: x i) a 0 ^+ 2)
  /\ (c^T *m D *m c) 0 0 <= 0.
Proof.
move=> F n d x D c DE c0.
have square (v : 'cV[F]_d) : \sum_a v a 0 ^+ 2 = (v^T *m v) 0 0.
  by rewrite dotE; apply: eq_bigr => a _; rewrite expr2.
have form : (c^T *m D *m c) 0 0 = - 2%:R * ((\sum_i c i 0 *: x i)^T *m (\sum_i c i 0 *: x i)) 0 0.
  rewrite quad_sum; under eq_bigr => i _ do under eq_bigr => j _ do rewrite DE square.
  by rewrite (squared_form _ c0) mulNr mulr_natl.
by rewrite form square mulNr oppr_le0 mulr_ge0 ?ler0n ?norm2_ge0.
Qed.

Lemma squared_witness :
  ~ (forall (x : 'I_3 -> 'cV[rat]_2) (D : 'M[rat]_3) (c : 'cV[rat]_3),
     (forall i j, D i j = \sum_a (x i - x j) a 0 ^+ 2) -> \sum_i c i 0 = 0 -> False).
Proof.
move=> /(_ (fun=> 0) 0 0); apply=> [i j|].
  by rewrite subrr big1 => [|a _]; rewrite mxE // expr0n.
by rewrite big1 // => i _; rewrite mxE.
Qed.
