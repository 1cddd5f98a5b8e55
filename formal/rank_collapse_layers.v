From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import rank_collapse.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem dobrushin__oscillation :
  forall (F : realFieldType) (d n m : nat) (N : 'cV[F]_d -> F) (A : 'M[F]_(n, m))
    (x : 'I_m -> 'cV[F]_d) (D tau : F),
  (forall u v, N (u + v) <= N u + N v) -> (forall a u, N (a *: u) = `|a| * N u) ->
  (forall i, \sum_j A i j = 1) -> (forall j l, N (x j - x l) <= D) ->
  (forall i k, 2%:R^-1 * (\sum_j `|A i j - A k j|) <= tau) ->
  forall i k, N ((\sum_j A i j *: x j) - (\sum_j A k j *: x j)) <= tau * D.
Proof.
move=> F d n m N A x D tau ND NZ A1 near far i k.
have sign j : if A k j <= A i j then 0 <= A i j - A k j else A i j - A k j <= 0.
  by case: leP => [|/ltW]; rewrite ?subr_ge0 ?subr_le0.
have [T le _] := dobrushin (I := fun j => A k j <= A i j) ND NZ (A1 i) (A1 k) sign near.
apply: le_trans le _; rewrite mulrC [X in _ <= X]mulrC; apply: le_mul2; last by rewrite T.
case: m A x A1 near {far sign T} => [A x A1|m A x _ near]; last first.
  by apply: le_trans (near 0 0); rewrite subrr (norm0 NZ).
by move: (A1 i); rewrite big_ord0 => /esym/eqP; rewrite oner_eq0.
Qed.

Lemma dobrushin__oscillation_witness :
  ~ (forall (N : 'cV[rat]_2 -> rat) (A : 'M[rat]_(2, 3)) (x : 'I_3 -> 'cV[rat]_2) (D tau : rat),
     (forall u v, N (u + v) <= N u + N v) -> (forall a u, N (a *: u) = `|a| * N u) ->
     (forall i, \sum_j A i j = 1) -> (forall j l, N (x j - x l) <= D) ->
     (forall i k, 2%:R^-1 * (\sum_j `|A i j - A k j|) <= tau) -> forall i k : 'I_2, False).
Proof.
move=> /(_ (fun=> 0) (const_mx 3%:R^-1) (fun=> 0) 0 0) no.
apply: (no _ _ _ _ _ 0 0) => [u v|a u|i|j l|i k]; rewrite ?addr0 ?mulr0 //.
  by rewrite !big_ord_recr big_ord0 /= !mxE.
by rewrite big1 ?mulr0 // => j _; rewrite !mxE subrr normr0.
Qed.

Theorem ball__layers :
  forall (F : realFieldType) (d n H : nat) (N : 'cV[F]_d -> F) (A : nat -> 'I_H -> 'M[F]_n)
    (W : nat -> 'I_H -> 'M[F]_d) (omega : nat -> 'I_H -> F) (x : nat -> 'I_n -> 'cV[F]_d)
    (rho : F),
  (forall u v, N (u + v) <= N u + N v) -> (forall a u, N (a *: u) = `|a| * N u) ->
  (forall l h u, N (W l h *m u) <= omega l h * N u) -> (forall l h, 0 <= omega l h) ->
  (forall l, \sum_h omega l h <= 1) -> (forall l h i j, 0 <= A l h i j) ->
  (forall l h i, \sum_j A l h i j = 1) -> 0 <= rho ->
  (forall l i, x l.+1 i = \sum_h \sum_j A l h i j *: (W l h *m x l j)) ->
  (forall j, N (x 0%N j) <= rho) -> forall l i, N (x l i) <= rho.
Proof.
move=> F d n H N A W omega x rho ND NZ NW o0 o1 A0 A1 r0 step near.
elim=> // l IH i; rewrite step.
exact: (ball (p := fun h => A l h i) ND NZ (NW l) (o0 l) (o1 l) (fun h => A0 l h i)
             (fun h => A1 l h i) r0 IH).
Qed.

Lemma ball__layers_witness :
  ~ (forall (N : 'cV[rat]_2 -> rat) (A : nat -> 'I_2 -> 'M[rat]_3)
       (W : nat -> 'I_2 -> 'M[rat]_2) (omega : nat -> 'I_2 -> rat) (x : nat -> 'I_3 -> 'cV[rat]_2)
       (rho : rat),
     (forall u v, N (u + v) <= N u + N v) -> (forall a u, N (a *: u) = `|a| * N u) ->
     (forall l h u, N (W l h *m u) <= omega l h * N u) -> (forall l h, 0 <= omega l h) ->
     (forall l, \sum_h omega l h <= 1) -> (forall l h i j, 0 <= A l h i j) ->
     (forall l h i, \sum_j A l h i j = 1) -> 0 <= rho ->
     (forall l i, x l.+1 i = \sum_h \sum_j A l h i j *: (W l h *m x l j)) ->
     (forall j, N (x 0%N j) <= rho) -> forall (l : nat) (i : 'I_3), False).
Proof.
move=> /(_ (fun=> 0) (fun _ _ => const_mx 3%:R^-1) (fun _ _ => 0) (fun _ _ => 0)
           (fun _ _ => 0) 0) no.
apply: (no _ _ _ _ _ _ _ _ _ _ 0%N 0) => [u v|a u|l h u|l h|l|l h i j|l h i||l i|j];
  rewrite ?addr0 ?mulr0 //.
- by rewrite big1 // ler01.
- by rewrite mxE invr_ge0 ler0n.
- by rewrite !big_ord_recr big_ord0 /= !mxE.
- by rewrite big1 // => h _; rewrite big1 // => j _; rewrite mul0mx scaler0.
Qed.
