From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Lemma differences (F : fieldType) (m d : nat) (a : 'I_m -> F) (x : 'I_m -> 'rV[F]_d) u :
  \sum_j a j = 1 -> \sum_j a j *: x j - u = \sum_j a j *: (x j - u).
Proof.
move=> one; under [RHS]eq_bigr => j _ do rewrite scalerBr.
by rewrite sumrB -scaler_suml one scale1r.
Qed.

Theorem token_k :
  forall (F : fieldType) (n d : nat) (A : 'M[F]_n) (x : 'I_n -> 'rV[F]_d) (u : 'rV[F]_d)
    (k : 'I_n),
  (forall i, \sum_j A i j = 1) -> (forall i j : 'I_n, (i < j)%N -> A i j = 0) ->
  (forall j : 'I_n, (j < k)%N -> x j = u) ->
  let y i := \sum_j A i j *: x j in
  [/\ forall i : 'I_n, (i < k)%N -> y i = u, y k - u = A k k *: (x k - u)
    & forall i : 'I_n, (k < i)%N ->
        y i - u = A i k *: (x k - u) + \sum_(j < n | (k < j)%N) A i j *: (x j - u)].
Proof.
move=> F n d A x u k one causal same y.
have from_k i : y i - u = A i k *: (x k - u) + \sum_(j < n | (k < j)%N) A i j *: (x j - u).
  rewrite /y differences // (bigD1 k) //=; congr (_ + _).
  rewrite (bigID (fun j : 'I_n => (k < j)%N)) /= [X in _ + X]big1 ?addr0 => [|j].
    by apply: eq_bigl => j; rewrite -val_eqE /=; case: ltngtP.
  case/andP=> jk; rewrite -leqNgt leq_eqVlt => /orP[/eqP/val_inj jk'|lt].
    by rewrite jk' eqxx in jk.
  by rewrite same // subrr scaler0.
split=> [i lt||i _]; last exact: from_k.
- apply/eqP; rewrite -subr_eq0 from_k causal // scale0r add0r big1 // => j kj.
  by rewrite causal ?scale0r // (ltn_trans lt).
- by rewrite from_k big1 ?addr0 // => j kj; rewrite causal ?scale0r.
Qed.

Lemma token_k_witness :
  ~ (forall (A : 'M[rat]_3) (x : 'I_3 -> 'rV[rat]_2) (u : 'rV[rat]_2) (k : 'I_3),
     (forall i, \sum_j A i j = 1) -> (forall i j : 'I_3, (i < j)%N -> A i j = 0) ->
     (forall j : 'I_3, (j < k)%N -> x j = u) ->
     (forall i : 'I_3, (i < k)%N -> False) \/ (forall i : 'I_3, (k < i)%N -> False)).
Proof.
move=> /(_ 1%:M (fun=> 0) 0 1) no; case: no => [i|i j lt|//|/(_ 0 isT) //|/(_ 2%:R isT) //].
  by rewrite sum3 !mxE; move: i; apply: each3.
by rewrite mxE -val_eqE /= (ltn_eqF lt).
Qed.

Theorem uniform :
  forall (F : numFieldType) (p d : nat) (x : nat -> 'I_p.+1 -> 'rV[F]_d) (u : 'rV[F]_d),
  (forall l (j : 'I_p.+1), (j < p)%N -> x l j = u) ->
  (forall l, x l.+1 ord_max = \sum_j p.+1%:R^-1 *: x l j) ->
  let y l := x l ord_max - u in
  forall l,
  [/\ p.+1%:R *: y l.+1 = y l, forall c, y l.+2 0 c * y l 0 c = y l.+1 0 c ^+ 2
    & y l = p.+1%:R^-1 ^+ l *: y 0%N].
Proof.
move=> F p d x u same xE y.
have p0 : p.+1%:R != 0 :> F by rewrite pnatr_eq0.
have step l : y l.+1 = p.+1%:R^-1 *: y l.
  rewrite /y xE differences => [|]; last by rewrite sumr_const card_ord -[LHS]mulr_natr mulVf.
  rewrite big_ord_recr /= big1 ?add0r // => j _; rewrite same ?subrr ?scaler0 //=.
move=> l; split.
- by rewrite step scalerA mulfV ?scale1r.
- by move=> c; rewrite !step scalerA !mxE expr2 -!mulrA; congr (_ * _); rewrite mulrCA.
- by elim: l => [|l IH]; rewrite ?scale1r // step IH scalerA exprS.
Qed.

Lemma uniform_witness :
  ~ (forall (x : nat -> 'I_3 -> 'rV[rat]_2) (u : 'rV[rat]_2),
     (forall l (j : 'I_3), (j < 2)%N -> x l j = u) ->
     (forall l, x l.+1 ord_max = \sum_j 3%:R^-1 *: x l j) ->
     forall (l : nat), forall c : 'I_2, False).
Proof.
move=> /(_ (fun _ _ => 0) 0) no; apply: (no _ _ 0%N 0) => // l.
by rewrite big1 // => j _; rewrite scaler0.
Qed.

Section Row.
Variables (F : numFieldType) (m : nat) (E : 'I_m -> F) (D : F).
Hypotheses (E0 : forall j, 0 < E j) (spread : forall j p, E j <= D * E p).

Lemma total_gt0 (j : 'I_m) : 0 < \sum_p E p.
Proof.
rewrite (bigD1 j) //=; apply: lt_le_trans (E0 j) _.
by rewrite -subr_ge0 addrAC subrr add0r sumr_ge0 // => p _; rewrite ltW.
Qed.

Lemma weights_sum (j : 'I_m) : \sum_p E p / (\sum_q E q) = 1.
Proof. by rewrite -mulr_suml mulfV // lt0r_neq0 ?(total_gt0 j). Qed.

Lemma weight_upper j : m%:R * (E j / (\sum_q E q)) <= D.
Proof.
have T0 := total_gt0 j; rewrite mulrA -[D](mulfK (lt0r_neq0 T0)) -subr_ge0 -mulrBl.
rewrite mulr_ge0 ?invr_ge0 ?(ltW T0) // subr_ge0 mulr_sumr -[m in m%:R]card_ord -sum1_card natr_sum.
by rewrite mulr_suml ler_sum // => p _; rewrite mul1r.
Qed.

Lemma weight_lower j : 1 <= (1 + (m%:R - 1) * D) * (E j / (\sum_q E q)).
Proof.
have T0 := total_gt0 j; rewrite mulrA -[X in X <= _](mulfV (lt0r_neq0 T0)) -subr_ge0 -mulrBl.
rewrite mulr_ge0 ?invr_ge0 ?(ltW T0) // subr_ge0 mulrDl mul1r (bigD1 j) //=.
rewrite -subr_ge0 opprD addrA [E j + _ - E j]addrAC subrr add0r subr_ge0.
have -> : m%:R - 1 = \sum_(p < m | p != j) 1 :> F.
  rewrite -[m in m%:R]card_ord -sum1_card natr_sum (bigD1 j) //=.
  by rewrite addrAC subrr add0r.
by rewrite -mulrA mulr_suml ler_sum // => p _; rewrite mul1r.
Qed.

Lemma weight_wide j : 1 <= m%:R * D * (E j / (\sum_q E q)).
Proof.
have T0 := total_gt0 j; rewrite mulrA -[X in X <= _](mulfV (lt0r_neq0 T0)) -subr_ge0 -mulrBl.
rewrite mulr_ge0 ?invr_ge0 ?(ltW T0) // subr_ge0 -mulrA -[m in m%:R]card_ord -sum1_card natr_sum.
by rewrite mulr_suml ler_sum // => p _; rewrite mul1r.
Qed.

Lemma spread_ge1 (j : 'I_m) : 1 <= D.
Proof.
have := spread j j; rewrite -[E j <= _]subr_ge0 (_ : D * E j - E j = (D - 1) * E j).
  by rewrite pmulr_lge0 // subr_ge0.
by rewrite mulrBl mul1r.
Qed.
End Row.

Lemma inv_le (F : numFieldType) (c a : F) : 0 < c -> 1 <= c * a -> c^-1 <= a.
Proof.
move=> c0 le; rewrite -[a](mulKf (lt0r_neq0 c0)) -subr_ge0 -{2}[c^-1]mulr1 -mulrBr.
by rewrite mulr_ge0 ?subr_ge0 // invr_ge0 ltW.
Qed.

Theorem row_weights :
  forall (F : realFieldType) (m : nat) (E : 'I_m -> F) (D : F),
  (forall j, 0 < E j) -> (forall j p, E j <= D * E p) ->
  let A j := E j / (\sum_p E p) in
  forall j : 'I_m,
  [/\ \sum_p A p = 1, m%:R * A j <= D, 1 <= (1 + (m%:R - 1) * D) * A j,
      (1 + (m%:R - 1) * D)^-1 <= A j /\ (m = 2%N -> D^-1 / (1 + D^-1) <= A j)
    & `|A j - m%:R^-1| <= D - 1].
Proof.
move=> F m E D E0 spread A j.
have D1 := spread_ge1 E0 spread j; have D0 : 0 < D by apply: lt_le_trans D1.
have m0 : 0 < m%:R :> F by rewrite ltr0n; case: (m) j => [[]|].
have m1 : 1 <= m%:R :> F by rewrite ler1n; case: (m) j => [[]|].
have up := weight_upper E0 spread j; have low := weight_lower E0 spread j.
have c0 : 0 < 1 + (m%:R - 1) * D.
  by apply: lt_le_trans ltr01 _; rewrite -subr_ge0 addrAC subrr add0r mulr_ge0 ?subr_ge0 // ltW.
have inverse : (1 + (m%:R - 1) * D)^-1 <= A j.
  exact: inv_le.
split=> //; first exact: (weights_sum E0 j).
  split=> // m2; have <- : (1 + (m%:R - 1) * D)^-1 = D^-1 / (1 + D^-1).
    rewrite m2 (natrD _ 1 1) addrK mul1r -invfM mulrDr mulr1 mulfV ?lt0r_neq0 //.
    by rewrite addrC.
  exact: inverse.
have wide : 1 <= D * (m%:R * A j).
  apply: le_trans low _; rewrite [X in _ <= X]mulrA -subr_ge0 -mulrBl mulr_ge0 //; last first.
    by rewrite divr_ge0 ?(ltW (E0 j)) // ltW // (total_gt0 E0 j).
  by rewrite mulrBl mul1r opprD opprB [D * _]mulrC addrA addrC addrA subrK subr_ge0.
have -> : A j - m%:R^-1 = (m%:R * A j - 1) / m%:R.
  by rewrite mulrBl mulrAC mulfV ?lt0r_neq0 // !mul1r.
have near : `|m%:R * A j - 1| <= D - 1.
  rewrite ler_norml opprB; apply/andP; split; last by rewrite -subr_ge0 opprB addrA subrK subr_ge0.
  set t := m%:R * A j in up wide *; rewrite -subr_ge0.
  have [t1|/ltW t1] := leP 1 t.
    by rewrite opprB addr_ge0 ?subr_ge0.
  have -> : t - 1 - (1 - D) = (D - 1) * (1 - t) + (D * t - 1).
    by rewrite opprB mulrBr mulr1 mulrBl mul1r opprB -[RHS]addrA [t - D * t + _]addrA subrK addrC.
  by rewrite addr_ge0 ?mulr_ge0 ?subr_ge0.
rewrite normrM normfV (ger0_norm (ltW m0)); apply: le_trans near.
rewrite -subr_ge0 -{1}[`|_ - 1|]mulr1 -mulrBr mulr_ge0 // subr_ge0.
by apply: inv_le; rewrite ?mulr1.
Qed.

Lemma row_weights_witness :
  ~ (forall (E : 'I_2 -> rat) (D : rat),
     (forall j, 0 < E j) -> (forall j p, E j <= D * E p) ->
     forall j : 'I_2, 2%N = 2%N -> False).
Proof. by move=> /(_ (fun=> 1) 1) no; apply: (no _ _ 0). Qed.

Lemma near_one (F : realFieldType) (D t : F) : 1 <= D -> t <= D -> 1 <= D * t -> `|t - 1| <= D - 1.
Proof.
move=> D1 up wide.
rewrite ler_norml opprB; apply/andP; split; last by rewrite -subr_ge0 opprB addrA subrK subr_ge0.
rewrite -subr_ge0; have [t1|/ltW t1] := leP 1 t; first by rewrite opprB addr_ge0 ?subr_ge0.
have -> : t - 1 - (1 - D) = (D - 1) * (1 - t) + (D * t - 1).
  by rewrite opprB mulrBr mulr1 mulrBl mul1r opprB -[RHS]addrA [t - D * t + _]addrA subrK addrC.
by rewrite addr_ge0 ?mulr_ge0 ?subr_ge0.
Qed.

Lemma compare (F : realFieldType) (D x y : F) : 1 <= D -> 0 < y -> x <= D -> 1 <= D * y ->
  x <= D ^+ 2 * y.
Proof.
move=> D1 y0 xD Dy; apply: (le_trans xD); rewrite expr2 -mulrA -[X in X <= _]mulr1.
by rewrite -subr_ge0 -mulrBr mulr_ge0 ?subr_ge0 // (le_trans ler01).
Qed.

Theorem quotients :
  forall (F : realFieldType) (i k : nat) (E : 'I_i -> F) (G : 'I_k -> F) (D : F),
  (forall j, 0 < E j) -> (forall j p, E j <= D * E p) ->
  (forall q, 0 < G q) -> (forall q p, G q <= D * G p) ->
  let A j := E j / (\sum_p E p) in let B q := G q / (\sum_p G p) in
  forall j q,
  [/\ i%:R * A j <= k%:R * D ^+ 2 * B q, k%:R * B q <= i%:R * D ^+ 2 * A j,
      `|A j / B q - k%:R / i%:R| <= k%:R / i%:R * (D ^+ 2 - 1)
    & (k < i)%N -> k%:R / i%:R < 1 :> F].
Proof.
move=> F i k E G D E0 Espread G0 Gspread A B j q.
have D1 := spread_ge1 E0 Espread j; have D0 : 0 < D by apply: lt_le_trans D1.
have i0 : 0 < i%:R :> F by rewrite ltr0n; case: (i) j => [[]|].
have k0 : 0 < k%:R :> F by rewrite ltr0n; case: (k) q => [[]|].
have A0 : 0 < A j by rewrite divr_gt0 // (total_gt0 E0 j).
have B0 : 0 < B q by rewrite divr_gt0 // (total_gt0 G0 q).
have upA := weight_upper E0 Espread j; have lowA := weight_wide E0 Espread j.
have upB := weight_upper G0 Gspread q; have lowB := weight_wide G0 Gspread q.
have above : i%:R * A j <= D ^+ 2 * (k%:R * B q).
  apply: (compare D1 _ upA); first by rewrite mulr_gt0.
  by rewrite [X in _ <= X]mulrCA [X in _ <= X]mulrA.
have under : k%:R * B q <= D ^+ 2 * (i%:R * A j).
  apply: (compare D1 _ upB); first by rewrite mulr_gt0.
  by rewrite [X in _ <= X]mulrCA [X in _ <= X]mulrA.
split; first by rewrite [k%:R * D ^+ 2]mulrC -[X in _ <= X]mulrA.
- by rewrite [i%:R * D ^+ 2]mulrC -[X in _ <= X]mulrA.
- pose t := i%:R * A j / (k%:R * B q).
  have kB0 : 0 < k%:R * B q by rewrite mulr_gt0.
  have D2 : 1 <= D ^+ 2 by rewrite expr2 (le_trans D1) // -[X in X <= _]mulr1 -subr_ge0 -mulrBr
    mulr_ge0 ?subr_ge0 // ltW.
  have t_le : t <= D ^+ 2.
    rewrite -[X in _ <= X](mulfK (lt0r_neq0 kB0)) -subr_ge0 -mulrBl.
    by rewrite mulr_ge0 ?subr_ge0 // invr_ge0 ltW.
  have t_ge : 1 <= D ^+ 2 * t.
    rewrite mulrA -[X in X <= _](mulfV (lt0r_neq0 kB0)) -subr_ge0 -mulrBl.
    by rewrite mulr_ge0 ?subr_ge0 // invr_ge0 ltW.
  have near : `|t - 1| <= D ^+ 2 - 1 by apply: near_one.
  have -> : A j / B q - k%:R / i%:R = k%:R / i%:R * (t - 1).
    rewrite mulrBr mulr1 /t; congr (_ - _); rewrite [RHS]mulf_div.
    rewrite [k%:R * (i%:R * A j)]mulrCA [i%:R * (k%:R * A j)]mulrA [i%:R * (k%:R * B q)]mulrA.
    by rewrite -[RHS]mulf_div mulfV ?mul1r // mulf_neq0 ?lt0r_neq0.
  rewrite normrM ger0_norm ?divr_ge0 ?ler0n // -subr_ge0 -mulrBr.
  by rewrite mulr_ge0 ?divr_ge0 ?ler0n // subr_ge0.
- move=> lt; rewrite -[X in _ < X](mulfV (lt0r_neq0 i0)) -subr_gt0 -mulrBl.
  by rewrite mulr_gt0 ?invr_gt0 // subr_gt0 ltr_nat.
Qed.

Lemma quotients_witness :
  ~ (forall (E : 'I_3 -> rat) (G : 'I_2 -> rat) (D : rat),
     (forall j, 0 < E j) -> (forall j p, E j <= D * E p) ->
     (forall q, 0 < G q) -> (forall q p, G q <= D * G p) ->
     forall (j : 'I_3) (q : 'I_2), (2 < 3)%N -> False).
Proof. by move=> /(_ (fun=> 1) (fun=> 1) 1) no; apply: (no _ _ _ _ 0 0). Qed.
