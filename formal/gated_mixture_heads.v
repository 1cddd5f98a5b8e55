From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem two_heads :
  forall (F : fieldType) (n m d d_o : nat) (w : 'I_2 -> F) (T : 'I_2 -> 'M[F]_(d_o, d))
    (P : 'M[F]_(n, m)) (g : 'I_2 -> 'M[F]_(n, m)) (T_e : 'I_n -> 'I_m -> 'M[F]_(d_o, d)),
  (forall i j, P i j != 0 -> \sum_h g h i j = 1) ->
  (forall i j, P i j != 0 -> T_e i j = \sum_h (g h i j / w h) *: T h) ->
  (forall i j k l, P i j != 0 -> P k l != 0 -> T_e i j = T_e k l)
  <-> (forall i j k l, P i j != 0 -> P k l != 0 -> forall h, g h i j = g h k l)
      \/ (w 0)^-1 *: T 0 = (w 1)^-1 *: T 1.
Proof.
move=> F n m d d_o w T P g T_e g1 TE.
have total i j : P i j != 0 -> g 1 i j = 1 - g 0 i j.
  by move=> Pn0; rewrite -(g1 i j Pn0) sum2 addrAC subrr add0r.
pose V := (w 0)^-1 *: T 0 - (w 1)^-1 *: T 1.
have diff i j k l : P i j != 0 -> P k l != 0 -> T_e i j - T_e k l = (g 0 i j - g 0 k l) *: V.
  move=> Pij Pkl; rewrite !TE // -sumrB sum2 -!scalerBl -!mulrBl !total //.
  rewrite /V scalerBr !scalerA; congr (_ + _); rewrite -scaleNr -mulNr; congr (_ * _ *: _).
  by rewrite !opprB addrC addrA addrNK.
split=> [same | [same i j k l Pij Pkl | equal i j k l Pij Pkl]].
- have [/eqP|V0] := eqVneq V 0; first by rewrite subr_eq0 => /eqP; right.
  left=> i j k l Pij Pkl; have := diff i j k l Pij Pkl.
  rewrite (same i j k l) // subrr => /esym/eqP; rewrite scaler_eq0 (negbTE V0) orbF subr_eq0.
  by move=> /eqP g0; apply: each2; rewrite ?total ?g0.
- by apply/eqP; rewrite -subr_eq0 diff // (same i j k l) // subrr scale0r.
- by apply/eqP; rewrite -subr_eq0 diff // /V equal subrr scaler0.
Qed.

Lemma two_heads_witness :
  ~ (forall (w : 'I_2 -> rat) (T : 'I_2 -> 'M[rat]_2) (P : 'M[rat]_(2, 3))
       (g : 'I_2 -> 'M[rat]_(2, 3)) (T_e : 'I_2 -> 'I_3 -> 'M[rat]_2),
     (forall i j, P i j != 0 -> \sum_h g h i j = 1) ->
     (forall i j, P i j != 0 -> T_e i j = \sum_h (g h i j / w h) *: T h) -> False).
Proof.
move=> /(_ (fun=> 1) (fun=> 0) (const_mx 1) (fun=> const_mx 2%:R^-1) (fun _ _ => 0)); apply.
  by move=> i j _; rewrite !big_ord_recr big_ord0 /= !mxE.
by move=> i j _; rewrite big1 // => h _; rewrite scaler0.
Qed.

Theorem three_heads :
  forall F : numFieldType,
  exists (A : 'I_3 -> 'M[F]_(1, 2)) (w : 'I_3 -> F) (T : 'I_3 -> 'M[F]_1) (P : 'M[F]_(1, 2))
    (g : 'I_3 -> 'M[F]_(1, 2)) (T_e : 'I_1 -> 'I_2 -> 'M[F]_1),
  [/\ (forall h i j, 0 <= A h i j) /\ (forall h i, \sum_j A h i j = 1),
      (forall h, 0 < w h) /\ P = \sum_h w h *: A h,
      (forall i j, 0 < P i j) /\ (forall h i j, P i j * g h i j = w h * A h i j),
      (forall i j, T_e i j = \sum_h (g h i j / w h) *: T h) /\ (forall i j k l, T_e i j = T_e k l)
    & (exists h, g h 0 0 != g h 0 1)
      /\ (forall h k, h != k -> (w h)^-1 *: T h != (w k)^-1 *: T k)].
Proof.
move=> F; pose third := 3%:R^-1 : F.
have third0 : 0 < third by rewrite invr_gt0 ltr0Sn.
have three : 3%:R != 0 :> F by rewrite pnatr_eq0.
pose A (h : 'I_3) := \row_(j < 2) ((h == 1) == (j == 1))%:R : 'M[F]_(1, 2).
pose P := \row_(j < 2) (if j == 0 then 2%:R * third else third) : 'M[F]_(1, 2).
pose g (h : 'I_3) := \row_(j < 2) (if h == 1 then (j == 1)%:R else (j == 0)%:R / 2%:R)
  : 'M[F]_(1, 2).
pose T (h : 'I_3) := (third * h%:R)%:M : 'M[F]_1.
have Te i j : \sum_h (g h i j / third) *: T h = 1%:M.
  have undo x y : x / third * (third * y) = x * y by rewrite mulrA divfK ?lt0r_neq0.
  move: j; apply: each2; rewrite sum3 /T !scale_scalar_mx -!raddfD /= !undo; congr _%:M.
    by rewrite !mxE /= mulr0 mul0r !add0r mul1r mulVf // pnatr_eq0.
  by rewrite !mxE /= !mul0r mulr1 add0r addr0.
exists A, (fun=> third), T, P, g, (fun _ _ => 1%:M); split; split.
- by move=> h i j; rewrite mxE ler0n.
- by move=> h i; rewrite sum2 !mxE; move: h; apply: each3; rewrite /= ?addr0 ?add0r.
- by [].
- apply/rowP; apply: each2; rewrite sum3 !mxE /= ?mulr1 ?mulr0 ?addr0 ?add0r //.
  by rewrite -mulr2n mulr_natl.
- by move=> i; apply: each2; rewrite mxE //= mulr_gt0 ?ltr0Sn.
- move=> h i j; move: h; apply: each3; move: j; apply: each2; rewrite !mxE /= ?mulr1 ?mulr0 //;
  by rewrite ?mul0r ?mulr0 // mul1r mulrAC mulfV ?mul1r // pnatr_eq0.
- by [].
- by [].
- by exists 0; rewrite !mxE /= mul1r mul0r invr_eq0 pnatr_eq0.
- move=> h k; apply: contraNneq => /matrixP /(_ 0 0) /eqP.
  by rewrite /T !scale_scalar_mx !mulKf ?lt0r_neq0 // !mxE !mulr1n eqr_nat.
Qed.

Lemma three_heads_witness : ~ (forall F : numFieldType, False).
Proof. by move=> /(_ rationals). Qed.
