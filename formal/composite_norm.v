From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Lemma le_mul (F : numDomainType) (x y a b : F) :
  0 <= x -> x <= a -> 0 <= y -> y <= b -> x * y <= a * b.
Proof.
move=> x0 xa y0 yb; apply: (@le_trans _ _ (a * y)).
  by rewrite -subr_ge0 -mulrBl mulr_ge0 ?subr_ge0.
by rewrite -subr_ge0 -mulrBr mulr_ge0 ?subr_ge0 // (le_trans x0).
Qed.

Lemma le_root (F : realFieldType) (x y : F) : 0 <= y -> x ^+ 2 <= y ^+ 2 -> x <= y.
Proof.
move=> y0; rewrite -[x ^+ 2 <= _]subr_ge0 subr_sqr => le.
have [//|lt] := leP x y; move: le; rewrite nmulr_rge0 ?subr_lt0 // leNgt.
by rewrite (lt_le_trans (le_lt_trans y0 lt)) // -subr_ge0 addrK.
Qed.

Lemma lt_root (F : realFieldType) (x y : F) : 0 <= y -> x ^+ 2 < y ^+ 2 -> x < y.
Proof.
move=> y0 lt; have le : x <= y by apply: le_root => //; apply: ltW.
by rewrite lt_neqAle le andbT; apply: contraTneq lt => ->; rewrite ltxx.
Qed.

Lemma columns_of_sum (F : numFieldType) (H n m : nat) (X : 'I_H -> 'M[F]_(n, m)) (a : 'I_H -> F) :
  (forall h j, \sum_i `|X h i j| <= a h) -> forall j, \sum_i `|(\sum_h X h) i j| <= \sum_h a h.
Proof.
move=> le j; apply: (@le_trans _ _ (\sum_i \sum_h `|X h i j|)).
  by rewrite ler_sum // => i _; rewrite summxE ler_norm_sum.
by rewrite exchange_big ler_sum.
Qed.

Lemma columns_of_product (F : numFieldType) (n m p : nat) (E : 'M[F]_(n, m))
    (G : 'M[F]_(m, p)) a b :
  0 <= a -> (forall j, \sum_i `|E i j| <= a) -> (forall j, \sum_i `|G i j| <= b) ->
  forall j, \sum_i `|(E *m G) i j| <= a * b.
Proof.
move=> a0 Ea Gb j; apply: (@le_trans _ _ (\sum_i \sum_k `|E i k| * `|G k j|)).
  rewrite ler_sum // => i _; rewrite mxE (le_trans (ler_norm_sum _ _ _)) // ler_sum // => k _.
  by rewrite normrM.
rewrite exchange_big (@le_trans _ _ (\sum_k a * `|G k j|)) //.
  by rewrite ler_sum // => k _; rewrite -mulr_suml le_mul // sumr_ge0.
by rewrite -mulr_sumr le_mul // sumr_ge0.
Qed.

Lemma rows_of_product (F : numFieldType) (n m p : nat) (E : 'M[F]_(n, m))
    (G : 'M[F]_(m, p)) a b :
  0 <= b -> (forall i, \sum_j `|E i j| <= a) -> (forall i, \sum_j `|G i j| <= b) ->
  forall i, \sum_j `|(E *m G) i j| <= a * b.
Proof.
move=> b0 Ea Gb i; rewrite mulrC.
have := @columns_of_product _ _ _ _ G^T E^T b a b0; rewrite -trmx_mul => le.
have <- : \sum_j `|(E *m G)^T j i| = \sum_j `|(E *m G) i j|.
  by apply: eq_bigr => j _; rewrite mxE.
by apply: le => k; under eq_bigr => j _ do rewrite mxE.
Qed.

Theorem two_norms :
  forall (F : numFieldType) (H n m : nat) (X : 'I_H -> 'M[F]_(n, m)) (alpha alpha' : 'I_H -> F),
  (forall h j, \sum_i `|X h i j| <= alpha h) -> (forall h i, \sum_j `|X h i j| <= alpha' h) ->
  (forall j, \sum_i `|(\sum_h X h) i j| <= \sum_h alpha h)
  /\ (forall i, \sum_j `|(\sum_h X h) i j| <= \sum_h alpha' h).
Proof.
move=> F H n m X a a' columns rows; split; first exact: columns_of_sum.
move=> i; have := @columns_of_sum _ H m n (fun h => (X h)^T) a'; rewrite -linear_sum => le.
have <- : \sum_j `|(\sum_h X h)^T j i| = \sum_j `|(\sum_h X h) i j|.
  by apply: eq_bigr => j _; rewrite mxE.
by apply: le => h k; under eq_bigr => j _ do rewrite mxE.
Qed.

Lemma two_norms_witness :
  ~ (forall (X : 'I_2 -> 'M[rat]_(2, 3)) (alpha alpha' : 'I_2 -> rat),
     (forall h j, \sum_i `|X h i j| <= alpha h) -> (forall h i, \sum_j `|X h i j| <= alpha' h) ->
     (forall j : 'I_3, False) \/ (forall i : 'I_2, False)).
Proof.
move=> /(_ (fun=> const_mx 1) (fun=> 2%:R) (fun=> 3%:R)) no.
by case: no => [h j|h j|/(_ 0)|/(_ 0)] //; rewrite ?sum2 ?sum3 !mxE.
Qed.

Theorem submultiplicative :
  forall (F : realFieldType) (n m p : nat) (E : 'M[F]_(n, m)) (G : 'M[F]_(m, p)) (a a' b b' : F),
  0 <= a -> 0 <= a' -> 0 <= b -> 0 <= b' ->
  (forall j, \sum_i `|E i j| <= a) -> (forall i, \sum_j `|E i j| <= a') ->
  (forall j, \sum_i `|G i j| <= b) -> (forall i, \sum_j `|G i j| <= b') ->
  forall i j,
  (\sum_k `|(E *m G) k j|) * (\sum_k `|(E *m G) i k|) <= a * b * (a' * b')
  /\ forall x y z, 0 <= x -> 0 <= y -> x ^+ 2 = a * a' -> y ^+ 2 = b * b' ->
     z ^+ 2 = (\sum_k `|(E *m G) k j|) * (\sum_k `|(E *m G) i k|) -> z <= x * y.
Proof.
move=> F n m p E G a a' b b' a0 a'0 b0 b'0 Ea Ea' Gb Gb' i j.
have le : (\sum_k `|(E *m G) k j|) * (\sum_k `|(E *m G) i k|) <= a * b * (a' * b').
  by rewrite le_mul ?sumr_ge0 ?columns_of_product ?rows_of_product.
split=> // x y z x0 y0 xE yE zE; apply: le_root; first by rewrite mulr_ge0.
by rewrite zE exprMn xE yE -mulrA [a' * _]mulrCA mulrA.
Qed.

Lemma submultiplicative_witness :
  ~ (forall (E : 'M[rat]_(2, 3)) (G : 'M[rat]_(3, 2)) (a a' b b' : rat),
     0 <= a -> 0 <= a' -> 0 <= b -> 0 <= b' ->
     (forall j, \sum_i `|E i j| <= a) -> (forall i, \sum_j `|E i j| <= a') ->
     (forall j, \sum_i `|G i j| <= b) -> (forall i, \sum_j `|G i j| <= b') ->
     forall (i j : 'I_2) (x y z : rat), 0 <= x -> 0 <= y -> x ^+ 2 = a * a' -> y ^+ 2 = b * b' ->
     z ^+ 2 = (\sum_k `|(E *m G) k j|) * (\sum_k `|(E *m G) i k|) -> False).
Proof.
move=> /(_ 0 0 0 0 0 0) no.
apply: (no _ _ _ _ _ _ _ _ 0 0 0 0 0) => // [j|j|j|j|]; rewrite ?mulr0 ?expr0n ?mul0mx //;
by rewrite ?sum2 ?sum3 !mxE.
Qed.
