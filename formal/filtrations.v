From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem growth :
  forall (F : numFieldType) (n m d : nat) (kappa mu mu' nu : 'M[F]_(n, m)) (v : 'I_m -> 'rV[F]_d),
  mu' = mu + nu ->
  let N i := \sum_j kappa i j * mu i j in let N' i := \sum_j kappa i j * mu' i j in
  let R i := (N i)^-1 *: \sum_j (kappa i j * mu i j) *: v j in
  let R' i := (N' i)^-1 *: \sum_j (kappa i j * mu' i j) *: v j in
  [/\ (forall i j, 0 <= nu i j) -> forall i j, mu i j <= mu' i j,
      forall i, 0 < N i -> 0 < N' i ->
        N' i *: R' i = N i *: R i + \sum_j (kappa i j * nu i j) *: v j
    & forall i j o : nat,
        (j <= i.+1 + o)%N%:R = (j <= i + o)%N%:R + (j == i.+1 + o)%N%:R :> F].
Proof.
move=> F n m d kappa mu mu' nu v -> N N' R R'; split=> [nu0 i j | i N0 N0' | i j o].
- by rewrite mxE -subr_ge0 addrAC subrr add0r.
- rewrite /R /R' !scalerA !mulfV ?lt0r_neq0 // !scale1r -big_split.
  by apply: eq_bigr => j _ /=; rewrite mxE mulrDr scalerDl.
- by rewrite leq_eqVlt addSn ltnS; case: eqP => [->|_]; rewrite ?addr0 // ltnn add0r.
Qed.

Lemma growth_witness :
  ~ (forall (kappa mu mu' nu : 'M[rat]_(2, 3)) (v : 'I_3 -> 'rV[rat]_2),
     mu' = mu + nu ->
     ((forall i j, 0 <= nu i j) -> forall (i : 'I_2) (j : 'I_3), False)
     \/ ((forall i, 0 < \sum_j kappa i j * mu i j -> 0 < \sum_j kappa i j * mu' i j -> False)
         \/ (forall i j o : nat, False))).
Proof.
move=> /(_ (const_mx 1) (const_mx 1) (const_mx 1) 0 (fun=> 0)); rewrite addr0.
case=> // [/(_ _ 0 0) no | [/(_ 0) no | /(_ 0%N 0%N 0%N) //]].
  by apply: no => i j; rewrite mxE.
by apply: no; rewrite sum3 !mxE.
Qed.

Theorem prefix :
  forall (F : numFieldType) (n m d : nat) (kappa mu : 'M[F]_(n, m)) (v : 'I_m -> 'rV[F]_d)
    (later : 'I_n -> 'I_m -> bool),
  (forall i j, later i j -> mu i j = 0) ->
  let N i := \sum_j kappa i j * mu i j in
  let N_1 i := \sum_(j | ~~ later i j) kappa i j * mu i j in
  let R i := (N i)^-1 *: \sum_j (kappa i j * mu i j) *: v j in
  let R_1 i := (N_1 i)^-1 *: \sum_(j | ~~ later i j) (kappa i j * mu i j) *: v j in
  forall i, 0 < N_1 i ->
  [/\ forall j, later i j -> kappa i j * mu i j / N i = 0, 0 < N i, N i = N_1 i, R i = R_1 i
    & forall (kappa' : 'M[F]_(n, m)) (v' : 'I_m -> 'rV[F]_d),
        (forall j, ~~ later i j -> kappa' i j = kappa i j /\ v' j = v j) ->
        (\sum_j kappa' i j * mu i j)^-1 *: (\sum_j (kappa' i j * mu i j) *: v' j) = R i].
Proof.
move=> F n m d kappa mu v later none N N_1 R R_1 i N0.
have part (V : zmodType) (f g : 'I_m -> V) :
    (forall j, later i j -> f j = 0) -> (forall j, ~~ later i j -> f j = g j) ->
    \sum_j f j = \sum_(j | ~~ later i j) g j.
  move=> f0 fg; rewrite (bigID (later i)) /= big1 ?add0r; last by move=> j /f0.
  by apply: eq_bigr.
have mass : N i = N_1 i by apply: part => // j /none ->; rewrite mulr0.
have same : R i = R_1 i.
  by rewrite /R /R_1 mass; congr (_ *: _); apply: part => // j /none ->; rewrite mulr0 scale0r.
split=> [j /none ->|||//|kappa' v' agree] //; rewrite ?mulr0 ?mul0r ?mass //.
have mass' : \sum_j kappa' i j * mu i j = N_1 i.
  by apply: part => j hid; [rewrite none ?mulr0 | have [-> _] := agree j hid].
rewrite same /R_1 mass'; congr (_ *: _); apply: part => j hid.
  by rewrite none // mulr0 scale0r.
by have [-> ->] := agree j hid.
Qed.

Lemma prefix_witness :
  ~ (forall (kappa mu : 'M[rat]_(2, 3)) (v : 'I_3 -> 'rV[rat]_2) (later : 'I_2 -> 'I_3 -> bool),
     (forall i j, later i j -> mu i j = 0) ->
     forall i, 0 < \sum_(j | ~~ later i j) kappa i j * mu i j ->
     (forall j, later i j -> False)
     \/ (forall (kappa' : 'M[rat]_(2, 3)) (v' : 'I_3 -> 'rV[rat]_2),
           (forall j, ~~ later i j -> kappa' i j = kappa i j /\ v' j = v j) -> False)).
Proof.
move=> /(_ (const_mx 1) (\matrix_(i, j) (j == 0)%:R) (fun=> 0) (fun _ j => j != 0)) no.
case: (no _ 0) => [i j /negPf j0||/(_ 1)|/(_ (const_mx 1) (fun=> 0))].
- by rewrite mxE j0.
- by rewrite (bigD1 0) //= big1 ?mxE // => j /andP[/negPn/eqP -> /eqP].
- by apply.
- by apply.
Qed.

Theorem all_masked :
  forall (F : numFieldType) (n m : nat) (e : F -> F) (kappa mu : 'M[F]_(n, m)),
  (forall x, 0 < e x) -> (forall i, 0 < \sum_j kappa i j * mu i j) ->
  forall (M : F) i l,
  e (- M) * kappa i l * mu i l / (\sum_j e (- M) * kappa i j * mu i j)
  = kappa i l * mu i l / (\sum_j kappa i j * mu i j).
Proof.
move=> F n m e kappa mu e0 N0 M i l.
under eq_bigr => j _ do rewrite -mulrA.
by rewrite -mulr_sumr -[e (- M) * _ * _]mulrA -mulf_div mulfV ?mul1r // lt0r_neq0.
Qed.

Lemma all_masked_witness :
  ~ (forall (e : rat -> rat) (kappa mu : 'M[rat]_(2, 3)),
     (forall x, 0 < e x) -> (forall i, 0 < \sum_j kappa i j * mu i j) ->
     forall (M : rat) (i : 'I_2) (l : 'I_3), False).
Proof.
move=> /(_ (fun=> 1) (const_mx 1) (const_mx 1)) no.
by apply: (no _ _ 0 0 0) => // i; rewrite sum3 !mxE.
Qed.

Theorem empty :
  forall (F : fieldType) (n m d : nat) (kappa mu : 'M[F]_(n, m)) (v : 'I_m -> 'rV[F]_d)
    (Y : 'I_n -> 'rV[F]_d),
  mu = 0 ->
  forall i, (\sum_j kappa i j * mu i j) *: Y i = \sum_j (kappa i j * mu i j) *: v j.
Proof.
move=> F n m d kappa mu v Y -> i.
by rewrite !big1 ?scale0r // => j _; rewrite mxE mulr0 ?scale0r.
Qed.

Lemma empty_witness :
  ~ (forall (kappa mu : 'M[rat]_(2, 3)) (v : 'I_3 -> 'rV[rat]_2) (Y : 'I_2 -> 'rV[rat]_2),
     mu = 0 -> forall i : 'I_2, False).
Proof. by move=> /(_ 0 0 (fun=> 0) (fun=> 0) erefl 0). Qed.

Theorem renormalised :
  forall (F : numFieldType) (n m d : nat) (kappa mu V w w' : 'M[F]_(n, m))
    (v : 'I_m -> 'rV[F]_d),
  (forall i, 0 < \sum_j kappa i j * mu i j) ->
  (forall i, 0 < \sum_j kappa i j * (V i j * mu i j)) ->
  (forall i j, w i j = kappa i j * mu i j / (\sum_k kappa i k * mu i k)) ->
  (forall i j, w' i j = kappa i j * (V i j * mu i j) / (\sum_k kappa i k * (V i k * mu i k))) ->
  forall i,
  [/\ forall j, w' i j * (\sum_k V i k * w i k) = V i j * w i j,
      \sum_j V i j * w i j = 1 - \sum_j (1 - V i j) * w i j
    & \sum_j w' i j *: v j = (\sum_k V i k * w i k)^-1 *: \sum_j (V i j * w i j) *: v j].
Proof.
move=> F n m d kappa mu V w w' v N0 N'0 wE w'E i.
set N := \sum_j kappa i j * mu i j; set N' := \sum_j kappa i j * (V i j * mu i j).
have Nn0 : N != 0 by rewrite lt0r_neq0 ?N0.
have N'n0 : N' != 0 by rewrite lt0r_neq0 ?N'0.
have left_ : \sum_k V i k * w i k = N' / N.
  by rewrite mulr_suml; apply: eq_bigr => k _; rewrite wE mulrA mulrCA.
have kept j : w' i j * (\sum_k V i k * w i k) = V i j * w i j.
  by rewrite left_ w'E [LHS]mulrA divfK // wE [RHS]mulrA; congr (_ / _); exact: mulrCA.
split=> //.
  rewrite -{1}(_ : \sum_j w i j = 1); last first.
    by under eq_bigr => j _ do rewrite wE; rewrite -mulr_suml mulfV.
  by rewrite -sumrB; apply: eq_bigr => j _; rewrite mulrBl mul1r opprB addrC subrK.
rewrite scaler_sumr; apply: eq_bigr => j _; rewrite scalerA -kept mulrCA mulVf ?mulr1 //.
by rewrite left_ mulf_neq0 ?invr_eq0.
Qed.

Lemma renormalised_witness :
  ~ (forall (kappa mu V w w' : 'M[rat]_(2, 3)) (v : 'I_3 -> 'rV[rat]_2),
     (forall i, 0 < \sum_j kappa i j * mu i j) ->
     (forall i, 0 < \sum_j kappa i j * (V i j * mu i j)) ->
     (forall i j, w i j = kappa i j * mu i j / (\sum_k kappa i k * mu i k)) ->
     (forall i j, w' i j = kappa i j * (V i j * mu i j) / (\sum_k kappa i k * (V i k * mu i k))) ->
     forall i : 'I_2, forall j : 'I_3, False).
Proof.
pose third := const_mx 3%:R^-1 : 'M[rat]_(2, 3).
move=> /(_ (const_mx 1) (const_mx 1) (const_mx 1) third third (fun=> 0)) no.
by apply: (no _ _ _ _ 0 0) => [i|i|i j|i j]; rewrite sum3 !mxE.
Qed.

Theorem alignment :
  (forall (n_q n_k i j : nat), (n_q <= n_k)%N -> (i < n_q)%N ->
     (j <= i + (n_k - n_q))%N = (j + (n_q - i.+1) < n_k)%N)
  /\ forall (F : numFieldType) (v : 'I_2 -> F), v 0 = 0 -> v 1 = 1 ->
     let mask (o : nat) (j : 'I_2) : F := (j <= 0 + o)%N%:R in
     ([/\ \sum_j mask (2 - 1)%N j * v j = 1, \sum_j mask (2 - 1)%N j = 2%:R
         & (\sum_j mask (2 - 1)%N j)^-1 * (\sum_j mask (2 - 1)%N j * v j) = 2%:R^-1])
     /\ [/\ \sum_j mask 0%N j * v j = 0, \sum_j mask 0%N j = 1
          & (\sum_j mask 0%N j)^-1 * (\sum_j mask 0%N j * v j) = 0].
Proof.
split=> [n_q n_k i j le lt | F v v0 v1 mask].
  rewrite addnBA // -(leq_add2r n_q) subnK ?(leq_trans le) ?leq_addl //.
  have -> : (j + (n_q - i.+1) < n_k)%N = (j + (n_q - i.+1) + i.+1 < n_k + i.+1)%N.
    by rewrite ltn_add2r.
  by rewrite -addnA subnK // addnS ltnS addnC [(i + n_k)%N]addnC addnC.
rewrite !sum2 /mask v0 v1 /= !(mulr0, mulr1, mul0r, add0r, addr0).
by split; split=> //; rewrite ?mulr1 ?mulr0 // -mulr2n.
Qed.

Lemma alignment_witness :
  ~ ((forall (n_q n_k i j : nat), (n_q.+2 <= n_k.+2)%N -> (i.+2 < n_q.+2)%N -> False)
     \/ (forall (F : numFieldType) (v : 'I_2 -> F), v 0 = 0 -> v 1 = 1 -> False)).
Proof.
case=> [/(_ 1%N 1%N 0%N 0%N) no | /(_ rationals (fun j => if j == 0 then 0 else 1))]; last exact.
exact: no.
Qed.
