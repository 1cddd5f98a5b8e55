From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem mask_limit :
  forall (F : numFieldType) (n m d : nat) (e : F -> F) (kappa mu : 'M[F]_(n, m))
    (v : 'I_m -> 'rV[F]_d) (hidden : 'I_n -> 'I_m -> bool) (i : 'I_n),
  (forall x, 0 < e x) -> (forall j, hidden i j -> 0 <= kappa i j /\ 0 <= mu i j) ->
  let masked M j := if hidden i j then e (- M) * kappa i j else kappa i j in
  let N_1 := \sum_(j | ~~ hidden i j) kappa i j * mu i j in
  let B := \sum_(j | hidden i j) kappa i j * mu i j in
  let S M := \sum_j masked M j * mu i j in
  let R_1 := N_1^-1 *: \sum_(j | ~~ hidden i j) (kappa i j * mu i j) *: v j in
  let T M := (S M)^-1 *: \sum_j (masked M j * mu i j) *: v j in
  0 < N_1 ->
  [/\ forall M, S M = N_1 + e (- M) * B
        /\ S M *: (T M - R_1)
           = e (- M) *: \sum_(l | hidden i l) (kappa i l * mu i l) *: (v l - R_1),
      forall M c Delta, (forall l, hidden i l -> `|v l 0 c - R_1 0 c| <= Delta) ->
        S M * `|T M 0 c - R_1 0 c| <= e (- M) * B * Delta,
      forall M l, hidden i l -> N_1 * (masked M l * mu i l / S M) <= e (- M) * kappa i l * mu i l
    & (forall eps, 0 < eps -> exists M0, forall M, M0 <= M -> e (- M) < eps) ->
      forall c delta, 0 < delta ->
        exists M0, forall M, M0 <= M -> `|T M 0 c - R_1 0 c| <= delta].
Proof.
move=> F n m d e kappa mu v hidden i e0 pos masked N_1 B S R_1 T N0.
have pair0 l : hidden i l -> 0 <= kappa i l * mu i l.
  by move=> /pos [k0 m0]; rewrite mulr_ge0.
have B0 : 0 <= B by rewrite sumr_ge0.
have split_sum (V : lmodType F) M (f : 'I_m -> V) :
    \sum_j (masked M j * mu i j) *: f j
    = \sum_(j | ~~ hidden i j) (kappa i j * mu i j) *: f j
      + e (- M) *: \sum_(j | hidden i j) (kappa i j * mu i j) *: f j.
  rewrite (bigID (hidden i)) /= addrC scaler_sumr; congr (_ + _); apply: eq_bigr => j hid.
    by rewrite /masked (negbTE hid).
  by rewrite /masked hid scalerA mulrA.
have SE M : S M = N_1 + e (- M) * B.
  have := split_sum _ M (fun=> 1 : F^o).
  rewrite /S /N_1 /B; congr (_ = _ + _ * _); apply: eq_bigr => j _; exact: mulr1.
have S_ge M : N_1 <= S M by rewrite SE -subr_ge0 addrAC subrr add0r mulr_ge0 // ltW.
have S0 M : 0 < S M by apply: lt_le_trans (S_ge M).
have moved M : S M *: (T M - R_1)
               = e (- M) *: \sum_(l | hidden i l) (kappa i l * mu i l) *: (v l - R_1).
  under eq_bigr => l _ do rewrite scalerBr.
  rewrite sumrB -scaler_suml !scalerBr /T !scalerA mulfV ?lt0r_neq0 // scale1r split_sum.
  rewrite SE mulrDl mulfV ?lt0r_neq0 // scalerDl scale1r opprD addrA; congr (_ - _).
  by rewrite addrAC subrr add0r.
have entry k (x y : 'rV[F]_d) c : (k *: (x - y)) 0 c = k * (x 0 c - y 0 c) by rewrite !mxE.
have near M c Delta : (forall l, hidden i l -> `|v l 0 c - R_1 0 c| <= Delta) ->
    S M * `|T M 0 c - R_1 0 c| <= e (- M) * B * Delta.
  move=> within; have eq : S M * (T M 0 c - R_1 0 c)
      = e (- M) * \sum_(l | hidden i l) kappa i l * mu i l * (v l 0 c - R_1 0 c).
    rewrite -entry moved mxE summxE; congr (_ * _); apply: eq_bigr => l _; exact: entry.
  rewrite -[S M]gtr0_norm // -normrM eq normrM gtr0_norm // -mulrA.
  rewrite -subr_ge0 -mulrBr mulr_ge0 ?(ltW (e0 _)) // subr_ge0.
  rewrite (le_trans (ler_norm_sum _ _ _)) //.
  rewrite mulr_suml ler_sum // => l hid; rewrite normrM ger0_norm ?pair0 //.
  by rewrite -subr_ge0 -mulrBr mulr_ge0 ?pair0 // subr_ge0 within.
split=> //.
- move=> M l hid; rewrite /masked hid mulrCA -subr_ge0 -[X in X - _]mulr1 -mulrBr.
  rewrite mulr_ge0 //; first by rewrite -mulrA mulr_ge0 ?pair0 // ltW.
  rewrite subr_ge0 -[X in _ <= X](mulfV (lt0r_neq0 (S0 M))) -subr_ge0 -mulrBl.
  by rewrite divr_ge0 ?subr_ge0 // ltW.
- move=> tends c delta d0.
  pose Delta := \sum_(l | hidden i l) `|v l 0 c - R_1 0 c|.
  have D0 : 0 <= Delta by rewrite sumr_ge0.
  have within l : hidden i l -> `|v l 0 c - R_1 0 c| <= Delta.
    move=> hid; rewrite /Delta (bigD1 l) //= -subr_ge0 addrAC subrr add0r.
    by rewrite sumr_ge0.
  have c0 : 0 < B * Delta + 1 by rewrite (lt_le_trans ltr01) // -subr_ge0 addrK mulr_ge0.
  have [|M0 small] := tends (delta * N_1 / (B * Delta + 1)); first by rewrite divr_gt0 ?mulr_gt0.
  exists M0 => M /small lt.
  have : e (- M) * (B * Delta + 1) <= delta * N_1.
    rewrite -(divfK (lt0r_neq0 c0) (delta * N_1)) -subr_ge0 -mulrBl mulr_ge0 ?ltW // subr_gt0.
    exact: lt.
  move=> le; have := near M c Delta within.
  rewrite -subr_ge0 => b1; rewrite -subr_ge0 -(pmulr_rge0 _ (S0 M)) mulrBr.
  rewrite -[S M * delta](subrK (delta * N_1)).
  have -> : S M * delta - delta * N_1 + delta * N_1 - S M * `|T M 0 c - R_1 0 c|
     = (S M - N_1) * delta + ((delta * N_1 - e (- M) * (B * Delta + 1))
        + (e (- M) + (e (- M) * B * Delta - S M * `|T M 0 c - R_1 0 c|))).
    by rewrite mulrDr mulr1 mulrBl [N_1 * _]mulrC mulrA -addrA opprD !addrA !subrK.
  apply: addr_ge0; first by rewrite mulr_ge0 ?subr_ge0 // ltW.
  apply: addr_ge0; first by rewrite subr_ge0.
  by rewrite addr_ge0 // ltW.
Qed.

Lemma mask_limit_witness :
  ~ (forall (e : rat -> rat) (kappa mu : 'M[rat]_(2, 3)) (v : 'I_3 -> 'rV[rat]_2)
       (hidden : 'I_2 -> 'I_3 -> bool) (i : 'I_2),
     (forall x, 0 < e x) -> (forall j, hidden i j -> 0 <= kappa i j /\ 0 <= mu i j) ->
     let masked M j := if hidden i j then e (- M) * kappa i j else kappa i j in
     let N_1 := \sum_(j | ~~ hidden i j) kappa i j * mu i j in
     let S M := \sum_j masked M j * mu i j in
     let R_1 := N_1^-1 *: \sum_(j | ~~ hidden i j) (kappa i j * mu i j) *: v j in
     let T M := (S M)^-1 *: \sum_j (masked M j * mu i j) *: v j in
     0 < N_1 ->
     (forall M : rat, False)
     \/ ((forall (M : rat) (c : 'I_2) Delta,
            (forall l, hidden i l -> `|v l 0 c - R_1 0 c| <= Delta) -> False)
         \/ ((forall (M : rat) l, hidden i l -> False)
             \/ ((forall eps, 0 < eps -> exists M0, forall M, M0 <= M -> e (- M) < eps) ->
                 forall (c : 'I_2) (delta : rat), 0 < delta -> False)))).
Proof.
pose e (x : rat) := if x < -1 then - x^-1 else 1.
have e0 x : 0 < e x.
  rewrite /e; case: ifP => // lt; rewrite oppr_gt0 invr_lt0.
  by apply: lt_trans lt _.
have tends eps : 0 < eps -> exists M0, forall M, M0 <= M -> e (- M) < eps.
  move=> eps0; exists (2%:R + eps^-1) => M le.
  have ge : eps^-1 < M by apply: lt_le_trans le; rewrite -subr_gt0 addrK.
  have M2 : -M < -1.
    rewrite -subr_gt0 opprK addrC subr_gt0; apply: lt_le_trans le.
    by rewrite -subr_gt0 addrAC addr_gt0 // invr_gt0.
  rewrite /e M2 invrN opprK -[eps]invrK -subr_gt0.
  have M0 : 0 < M by apply: lt_trans ge; rewrite invr_gt0.
  have -> : eps^-1^-1 - M^-1 = (M - eps^-1) * (M^-1 * eps).
    by rewrite mulrBl !mulrA mulfV ?lt0r_neq0 // mul1r invrK mulrAC mulVf ?mul1r ?lt0r_neq0.
  by rewrite mulr_gt0 ?subr_gt0 // mulr_gt0 ?invr_gt0.
move=> /(_ e (const_mx 1) (const_mx 1) (fun=> 0) (fun _ j => j != 0) 0 e0) no.
have N1 : \sum_(j : 'I_3 | ~~ (j != 0)) (const_mx 1 : 'M[rat]_(2, 3)) 0 j
          * (const_mx 1 : 'M[rat]_(2, 3)) 0 j = 1.
  by rewrite (bigD1 0) //= big1 ?mxE // => j /andP[/negPn/eqP -> /eqP].
case: no => [j _||/(_ 0) //|[/(_ 0 0 0) no|[/(_ 0 1) no|/(_ tends 0 1) no]]].
- by rewrite !mxE.
- by rewrite N1.
- apply: no => l _; rewrite [X in _ *: X]big1 ?scaler0 ?subrr ?normr0 // => j _.
  by rewrite scaler0.
- exact: no.
- exact: no.
Qed.
