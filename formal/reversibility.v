From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import powers small_sums.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem kolmogorov__triangles :
  forall (F : numFieldType) (n : nat) (P : 'M[F]_n.+1), (forall i j, 0 < P i j) ->
  ((exists2 pi : 'I_n.+1 -> F, forall i, 0 < pi i & forall i j, pi i * P i j = pi j * P j i)
   <-> (forall i j k, P i j * P j k * P k i = P i k * P k j * P j i))
  /\ ((forall i j k, P i j * P j k * P k i = P i k * P k j * P j i) ->
      forall o, (forall i, 0 < P o i / P i o)
      /\ forall i j, P o i / P i o * P i j = P o j / P j o * P j i).
Proof.
move=> F n P P0; have Pn0 i j : P i j != 0 by rewrite lt0r_neq0.
have serves : (forall i j k, P i j * P j k * P k i = P i k * P k j * P j i) ->
    forall o, (forall i, 0 < P o i / P i o)
      /\ forall i j, P o i / P i o * P i j = P o j / P j o * P j i.
  move=> cycles o; split=> [i | i j]; first by rewrite divr_gt0.
  apply: (mulIf (Pn0 i o)); apply: (mulIf (Pn0 j o)).
  rewrite [P o i / _ * _ * P i o]mulrAC divfK // cycles [RHS]mulrAC.
  by rewrite [P o j / _ * _ * P j o]mulrAC divfK.
split=> //; split=> [[pi pi0 balance] i j k | cycles].
- apply: (mulIf (lt0r_neq0 (pi0 i))); apply: (mulIf (lt0r_neq0 (pi0 j))).
  apply: (mulIf (lt0r_neq0 (pi0 k))).
  rewrite [LHS](AC 6 ((4*1)*(5*2)*(6*3))) [RHS](AC 6 ((5*3)*(6*2)*(4*1))) /=.
  by rewrite balance (balance j k) (balance k i).
- have [pi0 balance] := serves cycles 0.
  by exists (fun i => P 0 i / P i 0).
Qed.

Lemma kolmogorov__triangles_witness :
  ~ (forall P : 'M[rat]_3, (forall i j, 0 < P i j) ->
     (forall i j k, P i j * P j k * P k i = P i k * P k j * P j i) -> forall o : 'I_3,
     (forall i : 'I_3, False) \/ (forall i j : 'I_3, False)).
Proof.
move=> /(_ (const_mx 1)) no; case: (no _ _ 0) => [i j|i j k|/(_ 0)|/(_ 0 0)] //.
  by rewrite mxE.
by rewrite !mxE.
Qed.

Theorem kolmogorov__softmax :
  forall (F : numFieldType) (n : nat) (A : pred F) (e : F -> F) (P S : 'M[F]_n.+1),
  (forall x y, A x -> A y -> A (x - y)) -> (forall x, A x -> 0 < e x) ->
  (forall x y, A x -> A y -> e (x + y) = e x * e y) ->
  (forall x y, A x -> A y -> e x = e y -> x = y) -> (forall i j, A (S i j)) ->
  (forall i j, P i j = e (S i j) / (\sum_k e (S i k))) ->
  let B := 2%:R^-1 *: (S - S^T) in
  (forall i j k, P i j * P j k * P k i = P i k * P k j * P j i)
  <-> (forall i j k, B i j + B j k + B k i = 0).
Proof.
move=> F n A e P S AB e0 eD inj AS PE B.
have A0 : A 0 by rewrite -(subrr (S 0 0)) AB.
have AN x : A x -> A (- x) by move=> Ax; rewrite -[- x]add0r AB.
have AD x y : A x -> A y -> A (x + y) by move=> Ax Ay; rewrite -[y]opprK AB ?AN.
have Z0 i : 0 < \sum_k e (S i k).
  rewrite (bigD1 0) //=; apply: lt_le_trans (e0 _ (AS i 0)) _.
  by rewrite -subr_ge0 addrAC subrr add0r sumr_ge0 // => k _; rewrite ltW ?e0.
have eS a b c : A a -> A b -> A c -> e (a + b + c) = e a * e b * e c.
  by move=> Aa Ab Ac; rewrite !eD // AD.
have two0 : 2%:R != 0 :> F by rewrite pnatr_eq0.
have cycle i j k : P i j * P j k * P k i
    = e (S i j + S j k + S k i) / ((\sum_l e (S i l)) * (\sum_l e (S j l)) * (\sum_l e (S k l))).
  by rewrite !PE eS // !invfM [LHS](AC (2*2*2) ((1*3*5)*(2*4*6))).
have halves i j k : B i j + B j k + B k i
    = 2%:R^-1 * ((S i j + S j k + S k i) - (S i k + S k j + S j i)).
  rewrite !mxE -!mulrDr; congr (_ * _).
  by rewrite [LHS](AC (2*2*2) ((1*3*5)*(6*4*2))) /= !opprD.
have same i j k : (P i j * P j k * P k i = P i k * P k j * P j i)
    <-> (S i j + S j k + S k i = S i k + S k j + S j i).
  have den : (\sum_l e (S i l)) * (\sum_l e (S k l)) * (\sum_l e (S j l))
      = (\sum_l e (S i l)) * (\sum_l e (S j l)) * (\sum_l e (S k l)) by rewrite mulrAC.
  rewrite !cycle den; split=> [eq | -> //].
  apply: inj; rewrite ?AD //; apply: mulIf eq.
  by rewrite invr_eq0 !mulf_neq0 // lt0r_neq0.
split=> [cyc i j k | zero i j k].
  by rewrite halves; move/same: (cyc i j k) => ->; rewrite subrr mulr0.
apply/same/eqP; rewrite -subr_eq0; have /eqP := zero i j k; rewrite halves.
by rewrite mulf_eq0 invr_eq0 (negbTE two0).
Qed.

Lemma kolmogorov__softmax_witness :
  ~ (forall (A : pred rat) (e : rat -> rat) (P S : 'M[rat]_3),
     (forall x y, A x -> A y -> A (x - y)) -> (forall x, A x -> 0 < e x) ->
     (forall x y, A x -> A y -> e (x + y) = e x * e y) ->
     (forall x y, A x -> A y -> e x = e y -> x = y) -> (forall i j, A (S i j)) ->
     (forall i j, P i j = e (S i j) / (\sum_k e (S i k))) -> False).
Proof.
move=> /(_ whole power (\matrix_(i, j) (power 0 / (\sum_(k < 3) power 0))) 0).
apply; rewrite ?mxE //; try exact: wholeB; try exact: powerD; try exact: power_inj.
- by move=> x; apply: power_gt0.
- by move=> i j; rewrite mxE.
- by move=> i j; rewrite !mxE; congr (_ / _); apply: eq_bigr => k _; rewrite mxE.
Qed.
