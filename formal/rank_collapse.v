From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Lemma le_sum2 (F : realFieldType) (a b c e : F) : a <= c -> b <= e -> a + b <= c + e.
Proof.
move=> ac be; rewrite -subr_ge0 opprD addrACA addr_ge0 // subr_ge0 //.
Qed.

Lemma le_sums (F : realFieldType) (I : finType) (Q : pred I) (f g : I -> F) :
  (forall i, Q i -> f i <= g i) -> \sum_(i | Q i) f i <= \sum_(i | Q i) g i.
Proof.
by move=> le; rewrite -subr_ge0 -sumrB sumr_ge0 // => i /le; rewrite subr_ge0.
Qed.

Lemma le_mul2 (F : realFieldType) (a b c : F) : 0 <= a -> b <= c -> a * b <= a * c.
Proof. by move=> a0 bc; rewrite -subr_ge0 -mulrBr mulr_ge0 // subr_ge0. Qed.

Section Norm.
Variables (F : realFieldType) (d : nat) (N : 'cV[F]_d -> F).
Hypotheses (ND : forall x y, N (x + y) <= N x + N y).
Hypotheses (NZ : forall a x, N (a *: x) = `|a| * N x).

Lemma norm0 : N 0 = 0.
Proof. by rewrite -(scale0r 0) NZ normr0 mul0r. Qed.

Lemma norm_sum (I : finType) (Q : pred I) (v : I -> 'cV[F]_d) :
  N (\sum_(i | Q i) v i) <= \sum_(i | Q i) N (v i).
Proof.
elim/big_ind2: _ => [|x a y b xa yb|//]; first by rewrite norm0.
by apply: le_trans (ND _ _) _; apply: le_sum2.
Qed.

Lemma variation (m : nat) (p q : 'I_m -> F) (I : pred 'I_m) (x : 'I_m -> 'cV[F]_d) (D : F) :
  \sum_j p j = 1 -> \sum_j q j = 1 ->
  (forall j, if I j then 0 <= p j - q j else p j - q j <= 0) ->
  (forall j l, N (x j - x l) <= D) ->
  N (\sum_j (p j - q j) *: x j) <= (\sum_(j | I j) (p j - q j)) * D.
Proof.
move=> p1 q1 sign near; set T := \sum_(j | I j) _.
have zero : \sum_j (p j - q j) = 0 by rewrite sumrB p1 q1 subrr.
have split_sum : \sum_(j | I j) (p j - q j) + \sum_(j | ~~ I j) (p j - q j) = 0.
  by rewrite -[RHS]zero [RHS](bigID I).
have other : \sum_(j | ~~ I j) (q j - p j) = T.
  rewrite (eq_bigr (fun j => - (p j - q j))) => [|j _]; last by rewrite opprB.
  by rewrite sumrN; apply/eqP; rewrite eq_sym -addr_eq0; apply/eqP.
have a0 j : I j -> 0 <= p j - q j by move=> Ij; have := sign j; rewrite Ij.
have b0 j : ~~ I j -> 0 <= q j - p j.
  by move=> Ij; have := sign j; rewrite (negbTE Ij) -oppr_ge0 opprB.
have T0 : 0 <= T by rewrite sumr_ge0.
set v := \sum_j (p j - q j) *: x j.
pose y := \sum_(l | ~~ I l) (q l - p l) *: x l.
have vE : v = \sum_(j | I j) (p j - q j) *: x j - y.
  rewrite /v (bigID I) /=; congr (_ + _); rewrite -sumrN; apply: eq_bigr => l _.
  by rewrite -scaleNr opprB.
have Tv : T *: v = \sum_(j | I j) \sum_(l | ~~ I l) ((p j - q j) * (q l - p l)) *: (x j - x l).
  transitivity (\sum_(j | I j) (p j - q j) *: (T *: x j - y)).
    rewrite vE scalerBr scaler_sumr.
    under [RHS]eq_bigr => j _ do rewrite scalerBr.
    rewrite sumrB -scaler_suml; congr (_ - _); apply: eq_bigr => j _.
    by rewrite !scalerA mulrC.
  apply: eq_bigr => j _; under [RHS]eq_bigr => l _ do rewrite -scalerA scalerBr.
  by rewrite -scaler_sumr sumrB -scaler_suml other.
have TNv : T * N v <= T * (T * D).
  rewrite -[T in T * N v](ger0_norm T0) -NZ Tv; apply: le_trans (norm_sum _ _) _.
  rewrite {1}/T mulr_suml; apply: le_sums => j Ij.
  apply: le_trans (norm_sum _ _) _; rewrite -other mulr_suml mulr_sumr.
  apply: le_sums => l Il; rewrite NZ ger0_norm ?mulr_ge0 ?a0 ?b0 // -mulrA.
  by rewrite !le_mul2 ?a0 ?b0.
have [T_eq0|T_neq0] := eqVneq T 0; last first.
  have Tgt0 : 0 < T by rewrite lt_def T_neq0.
  rewrite -subr_ge0; have := TNv; rewrite -subr_ge0 -mulrBr.
  by rewrite pmulr_rge0.
have each j : p j - q j = 0.
  have [Ij|Ij] := boolP (I j); apply/eqP.
    move/eqP: T_eq0; rewrite psumr_eq0 // => /allP /(_ j (mem_index_enum j)).
    by rewrite Ij.
  move: other; rewrite T_eq0 => /eqP; rewrite psumr_eq0 // => /allP /(_ j (mem_index_enum j)).
  by rewrite Ij /= -oppr_eq0 opprB.
rewrite T_eq0 mul0r /v big1 ?norm0 // => j _; by rewrite each scale0r.
Qed.
End Norm.

Theorem row_spreads :
  forall (F : realFieldType) (n m : nat) (s : 'M[F]_(n, m)) (B : F),
  (forall i j l, s i j - s i l <= B) ->
  forall i k j l, s i j - s k j - s i l + s k l <= 2%:R * B.
Proof.
move=> F n m s B spread i k j l.
have -> : s i j - s k j - s i l + s k l = (s i j - s i l) + (s k l - s k j).
  by rewrite [s i j - _ - _]addrAC -addrA [- _ + _]addrC.
by rewrite mulr_natl mulr2n le_sum2.
Qed.

Lemma row_spreads_witness :
  ~ (forall (s : 'M[rat]_(2, 3)) (B : rat), (forall i j l, s i j - s i l <= B) ->
     forall (i k : 'I_2) (j l : 'I_3), False).
Proof. by move=> /(_ 0 0) no; apply: (no _ 0 0 0 0) => i j l; rewrite !mxE. Qed.

Theorem dobrushin :
  forall (F : realFieldType) (d m : nat) (N : 'cV[F]_d -> F) (p q : 'I_m -> F) (I : pred 'I_m)
    (x : 'I_m -> 'cV[F]_d) (D : F),
  (forall u v, N (u + v) <= N u + N v) -> (forall a u, N (a *: u) = `|a| * N u) ->
  \sum_j p j = 1 -> \sum_j q j = 1 ->
  (forall j, if I j then 0 <= p j - q j else p j - q j <= 0) ->
  (forall j l, N (x j - x l) <= D) ->
  let T := \sum_(j | I j) (p j - q j) in
  [/\ T = 2%:R^-1 * (\sum_j `|p j - q j|), N ((\sum_j p j *: x j) - (\sum_j q j *: x j)) <= T * D
    & (forall j, 0 <= p j) -> (forall j, 0 <= q j) -> T <= 1].
Proof.
move=> F d m N p q I x D ND NZ p1 q1 sign near T.
have two0 : 2%:R != 0 :> F by rewrite pnatr_eq0.
have zero : T + \sum_(j | ~~ I j) (p j - q j) = 0.
  have total : \sum_j (p j - q j) = 0 by rewrite sumrB p1 q1 subrr.
  by rewrite -[RHS]total [RHS](bigID I).
split=> [||p0 q0].
- apply: (mulfI two0); rewrite mulrA mulfV // mul1r mulr_natl mulr2n [RHS](bigID I) /=.
  congr (_ + _); first by apply: eq_bigr => j Ij; have := sign j; rewrite Ij => /ger0_norm.
  move/eqP: zero; rewrite addr_eq0 => /eqP ->; rewrite -sumrN; apply: eq_bigr => j Ij.
  by have := sign j; rewrite (negbTE Ij) => /ler0_norm.
- rewrite -sumrB (eq_bigr (fun j => (p j - q j) *: x j)) => [|j _]; last by rewrite scalerBl.
  exact: (variation ND NZ p1 q1 sign near).
- apply: le_trans (_ : \sum_(j | I j) p j <= 1).
    by apply: le_sums => j _; rewrite -subr_ge0 opprB addrC subrK.
  by rewrite -p1 [X in _ <= X](bigID I) /= -subr_ge0 addrAC subrr add0r sumr_ge0.
Qed.

Lemma dobrushin_witness :
  ~ (forall (N : 'cV[rat]_2 -> rat) (p q : 'I_3 -> rat) (I : pred 'I_3)
       (x : 'I_3 -> 'cV[rat]_2) (D : rat),
     (forall u v, N (u + v) <= N u + N v) -> (forall a u, N (a *: u) = `|a| * N u) ->
     \sum_j p j = 1 -> \sum_j q j = 1 ->
     (forall j, if I j then 0 <= p j - q j else p j - q j <= 0) ->
     (forall j l, N (x j - x l) <= D) ->
     (forall j, 0 <= p j) -> (forall j, 0 <= q j) -> False).
Proof.
move=> /(_ (fun=> 0) (fun=> 3%:R^-1) (fun=> 3%:R^-1) predT (fun=> 0) 0) no.
apply: no => [u v|a u|||j|j l|j|j]; rewrite ?addr0 ?mulr0 ?subrr ?invr_ge0 ?ler0n //.
  by rewrite !big_ord_recr big_ord0.
by rewrite !big_ord_recr big_ord0.
Qed.

Theorem cubic :
  forall (F : realFieldType) (H : nat) (omega tau g Delta : 'I_H -> F) (D z : F),
  (forall h, 0 <= omega h) -> (forall h, 0 <= tau h) -> (forall h, 0 <= g h) ->
  (forall h, tau h <= 4%:R^-1 * Delta h) -> (forall h, Delta h <= g h * D ^+ 2) ->
  let kappa := \sum_h omega h * tau h in
  let c := 4%:R^-1 * (\sum_h omega h * g h) in
  kappa <= c * D ^+ 2 /\ (z <= kappa ^+ 2 * D ^+ 2 -> c * z <= (c * D ^+ 2) ^+ 3).
Proof.
move=> F H omega tau g Delta D z o0 t0 g0 tD Dg kappa c.
have quarter : 0 <= 4%:R^-1 :> F by rewrite invr_ge0 ler0n.
have c0 : 0 <= c by rewrite mulr_ge0 ?sumr_ge0 // => h _; rewrite mulr_ge0.
have k0 : 0 <= kappa by rewrite sumr_ge0 // => h _; rewrite mulr_ge0.
have bound : kappa <= c * D ^+ 2.
  rewrite /c -mulrA mulr_suml mulr_sumr; apply: le_sums => h _.
  apply: le_trans (le_mul2 (o0 h) (tD h)) _; rewrite -[omega h * g h * _]mulrA.
  by rewrite [X in _ <= X]mulrCA !le_mul2.
split=> // zk; have -> : (c * D ^+ 2) ^+ 3 = c * ((c * D ^+ 2) ^+ 2 * D ^+ 2).
  by rewrite [RHS]mulrCA -exprSr.
have squares : kappa ^+ 2 <= (c * D ^+ 2) ^+ 2.
  rewrite expr2 [X in _ <= X]expr2; apply: le_trans (le_mul2 k0 bound) _.
  by rewrite [kappa * _]mulrC; exact: le_mul2 (le_trans k0 bound) bound.
apply: le_mul2 => //; apply: le_trans zk _.
by rewrite mulrC [X in _ <= X]mulrC; apply: le_mul2 (sqr_ge0 D) squares.
Qed.

Lemma cubic_witness :
  ~ (forall (omega tau g Delta : 'I_2 -> rat) (D z : rat),
     (forall h, 0 <= omega h) -> (forall h, 0 <= tau h) -> (forall h, 0 <= g h) ->
     (forall h, tau h <= 4%:R^-1 * Delta h) -> (forall h, Delta h <= g h * D ^+ 2) ->
     z <= (\sum_h omega h * tau h) ^+ 2 * D ^+ 2 -> False).
Proof.
by move=> /(_ (fun=> 1) (fun=> 0) (fun=> 1) (fun=> 0) 0 0); apply=> //; rewrite expr0n mulr0.
Qed.

Theorem quadratic :
  forall (F : realFieldType) (H : nat) (omega tau rho Delta : 'I_H -> F) (D D' : F),
  (forall h, 0 <= omega h) -> (forall h, 0 <= tau h) -> (forall h, 0 <= rho h) -> 0 <= D ->
  (forall h, tau h <= 4%:R^-1 * Delta h) -> (forall h, Delta h <= 2%:R * rho h * D) ->
  let kappa := \sum_h omega h * tau h in
  let c := 2%:R^-1 * (\sum_h omega h * rho h) in
  kappa <= c * D /\ (D' <= kappa * D -> c * D' <= (c * D) ^+ 2).
Proof.
move=> F H omega tau rho Delta D D' o0 t0 r0 D0 tD Dr kappa c.
have half : 0 <= 2%:R^-1 :> F by rewrite invr_ge0 ler0n.
have quarter : 0 <= 4%:R^-1 :> F by rewrite invr_ge0 ler0n.
have two0 : 2%:R != 0 :> F by rewrite pnatr_eq0.
have c0 : 0 <= c by rewrite mulr_ge0 ?sumr_ge0 // => h _; rewrite mulr_ge0.
have bound : kappa <= c * D.
  rewrite /c -mulrA mulr_suml mulr_sumr; apply: le_sums => h _.
  apply: le_trans (le_mul2 (o0 h) (tD h)) _; rewrite -[omega h * rho h * _]mulrA.
  rewrite [X in _ <= X]mulrCA; apply: le_mul2 => //; apply: le_trans (le_mul2 quarter (Dr h)) _.
  by rewrite (natrM _ 2 2) invfM -[2%:R * _ * D]mulrA -[X in X <= _]mulrA mulKf.
split=> // zk; rewrite expr2 -[X in _ <= X]mulrA; apply: le_mul2 => //; apply: le_trans zk _.
by rewrite mulrC; apply: le_mul2.
Qed.

Lemma quadratic_witness :
  ~ (forall (omega tau rho Delta : 'I_2 -> rat) (D D' : rat),
     (forall h, 0 <= omega h) -> (forall h, 0 <= tau h) -> (forall h, 0 <= rho h) -> 0 <= D ->
     (forall h, tau h <= 4%:R^-1 * Delta h) -> (forall h, Delta h <= 2%:R * rho h * D) ->
     D' <= (\sum_h omega h * tau h) * D -> False).
Proof. by move=> /(_ (fun=> 1) (fun=> 0) (fun=> 1) (fun=> 0) 0 0); apply; rewrite ?mulr0. Qed.

Theorem ball :
  forall (F : realFieldType) (d m H : nat) (N : 'cV[F]_d -> F) (p : 'I_H -> 'I_m -> F)
    (W : 'I_H -> 'M[F]_d) (omega : 'I_H -> F) (x : 'I_m -> 'cV[F]_d) (rho : F),
  (forall u v, N (u + v) <= N u + N v) -> (forall a u, N (a *: u) = `|a| * N u) ->
  (forall h u, N (W h *m u) <= omega h * N u) -> (forall h, 0 <= omega h) ->
  \sum_h omega h <= 1 -> (forall h j, 0 <= p h j) -> (forall h, \sum_j p h j = 1) ->
  0 <= rho -> (forall j, N (x j) <= rho) ->
  N (\sum_h \sum_j p h j *: (W h *m x j)) <= rho.
Proof.
move=> F d m H N p W omega x rho ND NZ NW o0 o1 p0 p1 r0 near.
apply: le_trans (norm_sum ND NZ _ _) _; apply: le_trans (_ : \sum_h omega h * rho <= rho).
  apply: le_sums => h _; apply: le_trans (norm_sum ND NZ _ _) _.
  rewrite -[omega h * rho]mul1r -(p1 h) mulr_suml; apply: le_sums => j _.
  rewrite NZ ger0_norm //; apply: le_mul2 => //; apply: le_trans (NW h _) _.
  exact: le_mul2.
by rewrite -mulr_suml -[X in _ <= X]mul1r mulrC [X in _ <= X]mulrC; apply: le_mul2.
Qed.

Lemma ball_witness :
  ~ (forall (N : 'cV[rat]_2 -> rat) (p : 'I_2 -> 'I_3 -> rat) (W : 'I_2 -> 'M[rat]_2)
       (omega : 'I_2 -> rat) (x : 'I_3 -> 'cV[rat]_2) (rho : rat),
     (forall u v, N (u + v) <= N u + N v) -> (forall a u, N (a *: u) = `|a| * N u) ->
     (forall h u, N (W h *m u) <= omega h * N u) -> (forall h, 0 <= omega h) ->
     \sum_h omega h <= 1 -> (forall h j, 0 <= p h j) -> (forall h, \sum_j p h j = 1) ->
     0 <= rho -> (forall j, N (x j) <= rho) -> False).
Proof.
move=> /(_ (fun=> 0) (fun _ _ => 3%:R^-1) (fun=> 0) (fun=> 0) (fun=> 0) 0) no.
apply: no => [u v|a u|h u|h||h j|h||j]; rewrite ?addr0 ?mulr0 ?invr_ge0 ?ler0n //.
  by rewrite big1 ?ler01.
by rewrite !big_ord_recr big_ord0.
Qed.
