From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums inner_products.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Lemma gram_inverse (F : fieldType) d (A : 'M[F]_d) : A \in unitmx ->
  A^T *m A \in unitmx /\ invmx (A^T *m A) = invmx A *m (invmx A)^T.
Proof.
move=> AU; have one : A^T *m A *m (invmx A *m (invmx A)^T) = 1%:M.
  by rewrite mulmxA (mulmxK AU) -trmx_mul mulVmx // trmx1.
by have [GU _] := mulmx1_unit one; split=> //; rewrite -[LHS]mulmx1 -one mulKmx.
Qed.

Theorem lengths :
  forall (F : fieldType) (d : nat) (A : 'M[F]_d), A \in unitmx ->
  let G := A^T *m A in
  [/\ G *m (invmx A *m (invmx A)^T) = 1%:M /\ invmx G = invmx A *m (invmx A)^T,
      forall v : 'cV[F]_d, (v^T *m G *m v) 0 0 = \sum_a (A *m v) a 0 ^+ 2
    & forall p : 'cV[F]_d,
        (p^T *m invmx G *m p) 0 0 = \sum_a ((invmx A)^T *m p) a 0 ^+ 2].
Proof.
move=> F d A AU G; have [GU GV] := gram_inverse AU.
have square (x : 'cV[F]_d) : (x^T *m x) 0 0 = \sum_a x a 0 ^+ 2.
  by rewrite dotE; apply: eq_bigr => a _; rewrite expr2.
split; first by rewrite -GV mulmxV.
  by move=> v; rewrite -square trmx_mul !mulmxA.
by move=> p; rewrite -square GV trmx_mul trmxK !mulmxA.
Qed.

Lemma lengths_witness :
  ~ (forall A : 'M[rat]_2, A \in unitmx ->
     (forall v : 'cV[rat]_2, False) \/ (forall p : 'cV[rat]_2, False)).
Proof. by move=> /(_ 1%:M); rewrite unitmx1 => /(_ isT) [/(_ 0)|/(_ 0)]. Qed.

Section Metric.
Variables (F : realFieldType) (d : nat) (A : 'M[F]_d).
Hypothesis AU : A \in unitmx.
Let G := A^T *m A.
Implicit Types p v : 'cV[F]_d.

Lemma metricT : G^T = G.
Proof. by rewrite trmx_mul trmxK. Qed.

Lemma metric_unit : G \in unitmx.
Proof. by have [] := gram_inverse AU. Qed.

Lemma length_in v : (v^T *m G *m v) 0 0 = ((A *m v)^T *m (A *m v)) 0 0.
Proof. by rewrite trmx_mul !mulmxA. Qed.

Lemma dual_length_in p :
  (p^T *m invmx G *m p) 0 0 = (((invmx A)^T *m p)^T *m ((invmx A)^T *m p)) 0 0.
Proof. by have [_ ->] := gram_inverse AU; rewrite trmx_mul trmxK !mulmxA. Qed.

Lemma slope_in p v : (p^T *m v) 0 0 = (((invmx A)^T *m p)^T *m (A *m v)) 0 0.
Proof. by rewrite trmx_mul trmxK !mulmxA (mulmxKV AU). Qed.

Lemma length_ge0 v : 0 <= (v^T *m G *m v) 0 0.
Proof. by rewrite length_in norm2_ge0. Qed.

Lemma length_eq0 v : ((v^T *m G *m v) 0 0 == 0) = (A *m v == 0).
Proof. by rewrite length_in norm2_eq0. Qed.

Lemma frame_eq0 v : A *m v = 0 -> v = 0.
Proof. by move=> Av; rewrite -[v](mulKmx AU) Av mulmx0. Qed.

(* The square of a step from the least point. *)
Lemma length_shift eta p v :
  ((v + eta *: (invmx G *m p))^T *m G *m (v + eta *: (invmx G *m p))) 0 0
  = (v^T *m G *m v) 0 0 + 2%:R * eta * (p^T *m v) 0 0 + eta ^+ 2 * (p^T *m invmx G *m p) 0 0.
Proof.
have GU := metric_unit; set w := eta *: _.
have Gw : G *m w = eta *: p by rewrite -scalemxAr (mulKVmx GU).
have wG : w^T *m G = eta *: p^T by rewrite -metricT -trmx_mul Gw trZ.
rewrite trD !mulmxDl wG mulmxDr -[v^T *m G *m w]mulmxA Gw mulmxDr !entryD.
rewrite /w -!scalemxAl -!scalemxAr !entryZ [(v^T *m p) 0 0]dotC !mulmxA -!addrA; congr (_ + _).
by rewrite addrA expr2 -[in RHS]mulrA mulr_natl mulr2n mulrA.
Qed.
End Metric.

Theorem cauchy_schwarz :
  forall (F : realFieldType) (d : nat) (A : 'M[F]_d) (p v : 'cV[F]_d), A \in unitmx ->
  let G := A^T *m A in
  let x := A *m v in
  let y := (invmx A)^T *m p in
  [/\ (p^T *m v) 0 0 ^+ 2 <= (p^T *m invmx G *m p) 0 0 * (v^T *m G *m v) 0 0,
      (p^T *m v) 0 0 ^+ 2 = (p^T *m invmx G *m p) 0 0 * (v^T *m G *m v) 0 0
      <-> (forall a b, x a 0 * y b 0 - x b 0 * y a 0 = 0)
    & (p^T *m v) 0 0 ^+ 2 = (p^T *m invmx G *m p) 0 0 * (v^T *m G *m v) 0 0 ->
      (p^T *m invmx G *m p) 0 0 *: v = (p^T *m v) 0 0 *: (invmx G *m p)].
Proof.
move=> F d A p v AU G x y; rewrite (dual_length_in AU) length_in (slope_in AU) -/x -/y.
have two0 : 2%:R != 0 :> F by rewrite pnatr_eq0.
have minors : (y^T *m x) 0 0 ^+ 2 = (y^T *m y) 0 0 * (x^T *m x) 0 0
    <-> (forall a b, x a 0 * y b 0 - x b 0 * y a 0 = 0).
  have := lagrange x y; rewrite [(x^T *m y) 0 0]dotC [(x^T *m x) 0 0 * _]mulrC => same.
  split=> [eq a b | zero]; last first.
    apply/esym/eqP; rewrite -subr_eq0 -(mulrI_eq0 _ (lregP two0)) mulr_natl -same big1 // => a _.
    by rewrite big1 // => b _; rewrite zero expr0n.
  move/eqP: same; rewrite eq subrr mul0rn psumr_eq0 => [|i _]; last first.
    by rewrite sumr_ge0 // => j _; rewrite sqr_ge0.
  move=> /allP /(_ a (mem_index_enum a)) /=.
  rewrite psumr_eq0 => [/allP /(_ b (mem_index_enum b)) /=|j _]; last by rewrite sqr_ge0.
  by rewrite sqrf_eq0 => /eqP.
split=> //; first exact: inner_products.cauchy_schwarz.
move=> /minors zero; apply: (can_inj (mulKmx AU)).
have [_ GV] := gram_inverse AU.
rewrite -!scalemxAr GV -/x -[_ *m p]mulmxA (mulKVmx AU) -/y; apply/colP => a.
clearbody x y; rewrite [LHS]mxE [RHS]mxE !dotE !mulr_suml; apply: eq_bigr => b _.
have /eqP := zero a b; rewrite subr_eq0 => /eqP eq.
by rewrite -mulrA [y b 0 * x a 0]mulrC eq mulrA.
Qed.

Lemma cauchy_schwarz_witness :
  ~ (forall (A : 'M[rat]_2) (p v : 'cV[rat]_2), A \in unitmx ->
     let G := A^T *m A in
     (p^T *m v) 0 0 ^+ 2 = (p^T *m invmx G *m p) 0 0 * (v^T *m G *m v) 0 0 -> False).
Proof.
move=> /(_ 1%:M 0 0); rewrite unitmx1 => /(_ isT); apply.
by rewrite !mulmx0 !mxE mulr0.
Qed.

Theorem model :
  forall (F : realFieldType) (d : nat) (A : 'M[F]_d) (p v : 'cV[F]_d) (eta : F), A \in unitmx ->
  let G := A^T *m A in
  let norm2 (u : 'cV[F]_d) := (u^T *m G *m u) 0 0 in
  let w := v + eta *: (invmx G *m p) in
  [/\ 2%:R * eta * (p^T *m v) 0 0 + norm2 v
      = norm2 w - eta ^+ 2 * (p^T *m invmx G *m p) 0 0,
      - (eta ^+ 2 * (p^T *m invmx G *m p) 0 0) <= 2%:R * eta * (p^T *m v) 0 0 + norm2 v,
      2%:R * eta * (p^T *m v) 0 0 + norm2 v = - (eta ^+ 2 * (p^T *m invmx G *m p) 0 0)
      <-> A *m w = 0,
      A *m w = 0 -> v = - (eta *: (invmx G *m p))
    & 0 < eta ->
      let f (u : 'cV[F]_d) := (p^T *m u) 0 0 + norm2 u / (2%:R * eta) in
      let step := - (eta *: (invmx G *m p)) in
      f step <= f v /\ (f v = f step -> v = step)].
Proof.
move=> F d A p v eta AU G norm2 w.
have shift u : 2%:R * eta * (p^T *m u) 0 0 + norm2 u
    = norm2 (u + eta *: (invmx G *m p)) - eta ^+ 2 * (p^T *m invmx G *m p) 0 0.
  by rewrite /norm2 (length_shift AU) addrK addrC.
have ge0 u : 0 <= norm2 u := length_ge0 A u.
have eq0 u : norm2 u = 0 -> A *m u = 0 by move=> /eqP; rewrite /norm2 length_eq0 => /eqP.
have there : A *m w = 0 -> v = - (eta *: (invmx G *m p)).
  by move=> /(frame_eq0 AU) /eqP; rewrite addr_eq0 => /eqP.
split=> //; first exact: shift.
- by rewrite shift -subr_ge0 opprK subrK ge0.
- rewrite shift; split=> [/eqP | Aw].
    by rewrite -subr_eq0 opprK subrK => /eqP /eq0.
  by rewrite -/w /norm2 length_in Aw mulmx0 mxE sub0r.
- move=> eta0 f step.
  have e2 : 0 < 2%:R * eta by rewrite mulr_gt0 ?ltr0Sn.
  have fE u : f u = (norm2 (u + eta *: (invmx G *m p))
      - eta ^+ 2 * (p^T *m invmx G *m p) 0 0) / (2%:R * eta).
    rewrite -shift /f mulrDl; congr (_ + _).
    rewrite [RHS]mulrAC mulfV; first by rewrite mul1r.
    exact: lt0r_neq0.
  have at_step : norm2 (step + eta *: (invmx G *m p)) = 0.
    by rewrite addNr /norm2 mulmx0 mxE.
  have gap : f v - f step = norm2 w / (2%:R * eta).
    by rewrite !fE -mulrBl at_step sub0r opprK subrK.
  split; first by rewrite -subr_ge0 gap divr_ge0 // ltW.
  move=> /eqP; rewrite -subr_eq0 gap mulf_eq0 invr_eq0 (gt_eqF e2) orbF => /eqP /eq0.
  exact: there.
Qed.

Lemma model_witness :
  ~ (forall (A : 'M[rat]_2) (p v : 'cV[rat]_2) (eta : rat), A \in unitmx ->
     let w := v + eta *: (invmx (A^T *m A) *m p) in
     (A *m w = 0 -> False)
     \/ (0 < eta ->
         let norm2 (u : 'cV[rat]_2) := (u^T *m (A^T *m A) *m u) 0 0 in
         let f (u : 'cV[rat]_2) := (p^T *m u) 0 0 + norm2 u / (2%:R * eta) in
         let step := - (eta *: (invmx (A^T *m A) *m p)) in
         f v = f step -> False)).
Proof.
move=> /(_ 1%:M 0 0 1); rewrite unitmx1 => /(_ isT); rewrite !mulmx0 scaler0 oppr0 addr0.
case=> no; first by apply: no; rewrite mulmx0.
exact: (no isT erefl).
Qed.
