From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Lemma sum_product (R : comRingType) (m m' : nat) (f : 'I_m -> R) (g : 'I_m' -> R) :
  \sum_j \sum_l f j * g l = (\sum_j f j) * (\sum_l g l).
Proof. by rewrite mulr_suml; apply: eq_bigr => j _; rewrite mulr_sumr. Qed.

Lemma regroup (R : comRingType) (a b p q r s t : R) :
  a * b * (p * q * r) * (s * t) = p * (a * q * s * (b * r * t)).
Proof.
rewrite [X in _ = _ * X]mulrACA [X in _ = _ * (X * _)]mulrACA.
by rewrite -[p * q * r]mulrA [a * b * (p * _)]mulrCA -[LHS]mulrA.
Qed.

Theorem finite_rank :
  forall (F : numFieldType) (n m m' r d : nat) (phi : 'M[F]_(n, r)) (psi : 'M[F]_(m, r))
    (chi : 'M[F]_(m', r)) (mu : 'M[F]_(n, m)) (mu' : 'M[F]_(n, m')) (v : 'M[F]_(m, d))
    (v' : 'M[F]_(m', d)) (E : 'I_n -> 'I_m -> 'I_m' -> F) (y : 'M[F]_(n, d)),
  (forall i j l, E i j l = \sum_g phi i g * psi j g * chi l g) ->
  let Z i := \sum_j \sum_l mu i j * mu' i l * E i j l in
  let total i b := \sum_j \sum_l mu i j * mu' i l * E i j l * (v j b * v' l b) in
  (forall i b, y i b = total i b / Z i) ->
  forall i,
  [/\ forall b, total i b = \sum_g phi i g * ((\sum_j mu i j * psi j g * v j b)
                                              * (\sum_l mu' i l * chi l g * v' l b)),
      Z i = \sum_g phi i g * ((\sum_j mu i j * psi j g) * (\sum_l mu' i l * chi l g))
    & 0 < Z i -> forall b, Z i * y i b = total i b].
Proof.
move=> F n m m' r d phi psi chi mu mu' v v' E y EE Z total yE i.
have collect (s : 'I_m -> F) (t : 'I_m' -> F) :
    \sum_j \sum_l mu i j * mu' i l * E i j l * (s j * t l)
    = \sum_g phi i g * ((\sum_j mu i j * psi j g * s j) * (\sum_l mu' i l * chi l g * t l)).
  under [RHS]eq_bigr => g _ do rewrite -sum_product mulr_sumr.
  rewrite [RHS]exchange_big; apply: eq_bigr => j _ /=.
  under [RHS]eq_bigr => g _ do rewrite mulr_sumr.
  rewrite [RHS]exchange_big; apply: eq_bigr => l _ /=.
  rewrite EE mulr_sumr mulr_suml; apply: eq_bigr => g _.
  exact: regroup.
split=> [b||Z0 b]; first exact: collect.
  transitivity (\sum_j \sum_l mu i j * mu' i l * E i j l * (1 * 1)).
    by apply: eq_bigr => j _; apply: eq_bigr => l _; rewrite !mulr1.
  rewrite collect; apply: eq_bigr => g _; congr (_ * (_ * _));
  by apply: eq_bigr => j _; rewrite mulr1.
by rewrite yE mulrC divfK // lt0r_neq0.
Qed.

Lemma finite_rank_witness :
  ~ (forall (phi : 'M[rat]_2) (psi chi : 'M[rat]_2) (mu mu' v v' : 'M[rat]_2)
       (E : 'I_2 -> 'I_2 -> 'I_2 -> rat) (y : 'M[rat]_2),
     (forall i j l, E i j l = \sum_g phi i g * psi j g * chi l g) ->
     let Z i := \sum_j \sum_l mu i j * mu' i l * E i j l in
     let total i b := \sum_j \sum_l mu i j * mu' i l * E i j l * (v j b * v' l b) in
     (forall i b, y i b = total i b / Z i) ->
     forall i : 'I_2, (forall b : 'I_2, False) \/ (0 < Z i -> forall b : 'I_2, False)).
Proof.
pose J := const_mx 1 : 'M[rat]_2.
move=> /(_ J J J J J 0 0 (fun _ _ _ => 2%:R) 0) no.
case: (no _ _ 0) => [i j l|i b|/(_ 0) //|no1].
- by rewrite sum2 !mxE.
- by rewrite !sum2 !mxE.
- by apply: no1 0; rewrite !sum2 !mxE.
Qed.

Theorem factor :
  forall (F : numFieldType) (n m m' d : nat) (f1 mu : 'M[F]_(n, m)) (f2 mu' : 'M[F]_(n, m'))
    (v : 'M[F]_(m, d)) (v' : 'M[F]_(m', d)) (E : 'I_n -> 'I_m -> 'I_m' -> F),
  (forall i j l, E i j l = f1 i j * f2 i l) ->
  let N1 i := \sum_j mu i j * f1 i j in let N2 i := \sum_l mu' i l * f2 i l in
  let Z i := \sum_j \sum_l mu i j * mu' i l * E i j l in
  forall i, 0 < N1 i -> 0 < N2 i ->
  [/\ Z i = N1 i * N2 i, 0 < Z i
    & forall b,
      (\sum_j \sum_l mu i j * mu' i l * E i j l * (v j b * v' l b)) / Z i
      = (\sum_j mu i j * f1 i j * v j b) / N1 i * ((\sum_l mu' i l * f2 i l * v' l b) / N2 i)].
Proof.
move=> F n m m' d f1 mu f2 mu' v v' E EE N1 N2 Z i N10 N20.
have ZE : Z i = N1 i * N2 i.
  by rewrite -sum_product; apply: eq_bigr => j _; apply: eq_bigr => l _; rewrite EE mulrACA.
split=> // [|b]; first by rewrite ZE mulr_gt0.
rewrite ZE [RHS]mulf_div; congr (_ / _); rewrite -sum_product.
apply: eq_bigr => j _; apply: eq_bigr => l _.
by rewrite EE [mu i j * mu' i l * _]mulrACA [LHS]mulrACA.
Qed.

Lemma factor_witness :
  ~ (forall (f1 mu : 'M[rat]_(2, 3)) (f2 mu' : 'M[rat]_(2, 3)) (v v' : 'M[rat]_(3, 2))
       (E : 'I_2 -> 'I_3 -> 'I_3 -> rat),
     (forall i j l, E i j l = f1 i j * f2 i l) ->
     forall i, 0 < \sum_j mu i j * f1 i j -> 0 < \sum_l mu' i l * f2 i l ->
     forall b : 'I_2, False).
Proof.
move=> /(_ (const_mx 1) (const_mx 1) (const_mx 1) (const_mx 1) 0 0 (fun _ _ _ => 1)) no.
by apply: (no _ 0 _ _ 0) => [i j l||]; rewrite ?sum3 !mxE.
Qed.

Theorem product_world :
  forall (F : numFieldType) (n m m' d w : nat) (q : 'M[F]_(n, d)) (k : 'M[F]_(m, d))
    (k' : 'M[F]_(m', d)) (mu : 'M[F]_(n, m)) (mu' : 'M[F]_(n, m')) (v : 'M[F]_(m, w))
    (v' : 'M[F]_(m', w)) (E P : 'I_n -> 'I_m -> 'I_m' -> F) (y : 'M[F]_(n, w))
    (KR : 'M[F]_(m * m', d)) (VR : 'M[F]_(m * m', w)),
  let Z i := \sum_j \sum_l mu i j * mu' i l * E i j l in
  (forall i, 0 < Z i) -> (forall i j l, P i j l = mu i j * mu' i l * E i j l / Z i) ->
  (forall i b, y i b = \sum_j \sum_l P i j l * (v j b * v' l b)) ->
  (forall j l a, KR (mxvec_index j l) a = k j a * k' l a) ->
  (forall j l b, VR (mxvec_index j l) b = v j b * v' l b) ->
  [/\ forall i, \sum_j \sum_l P i j l = 1,
      (forall i j, 0 <= mu i j) -> (forall i l, 0 <= mu' i l) -> (forall i j l, 0 <= E i j l) ->
        forall i j l, 0 <= P i j l,
      forall i b, Z i * y i b = \sum_j \sum_l mu i j * mu' i l * E i j l * (v j b * v' l b),
      forall i j l, (q *m KR^T) i (mxvec_index j l) = \sum_a q i a * k j a * k' l a
    & forall i b, y i b = \sum_j \sum_l P i j l * VR (mxvec_index j l) b].
Proof.
move=> F n m m' d w q k k' mu mu' v v' E P y KR VR Z Z0 PE yE KRE VRE.
split=> [i|mu0 mu'0 E0 i j l|i b|i j l|i b].
- have part j : \sum_l P i j l = (\sum_l mu i j * mu' i l * E i j l) / Z i.
    by rewrite mulr_suml; apply: eq_bigr => l _.
  under eq_bigr => j _ do rewrite part.
  by rewrite -mulr_suml; exact: mulfV (lt0r_neq0 (Z0 i)).
- move: (mu0 i j) (mu'0 i l) (E0 i j l) => a0 b0 c0.
  by rewrite PE divr_ge0 ?(ltW (Z0 i)) // !mulr_ge0.
- rewrite yE mulr_sumr; apply: eq_bigr => j _; rewrite mulr_sumr; apply: eq_bigr => l _.
  by rewrite PE [LHS]mulrA; congr (_ * _); rewrite [LHS]mulrC divfK // lt0r_neq0.
- by rewrite mxE; apply: eq_bigr => a _; rewrite mxE KRE mulrA.
- by rewrite yE; apply: eq_bigr => j _; apply: eq_bigr => l _; rewrite VRE.
Qed.

Lemma product_world_witness :
  ~ (forall (q : 'M[rat]_2) (k k' : 'M[rat]_2) (mu mu' : 'M[rat]_2) (v v' : 'M[rat]_2)
       (E P : 'I_2 -> 'I_2 -> 'I_2 -> rat) (y : 'M[rat]_2) (KR VR : 'M[rat]_(2 * 2, 2)),
     let Z i := \sum_j \sum_l mu i j * mu' i l * E i j l in
     (forall i, 0 < Z i) -> (forall i j l, P i j l = mu i j * mu' i l * E i j l / Z i) ->
     (forall i b, y i b = \sum_j \sum_l P i j l * (v j b * v' l b)) ->
     (forall j l a, KR (mxvec_index j l) a = k j a * k' l a) ->
     (forall j l b, VR (mxvec_index j l) b = v j b * v' l b) ->
     (forall i : 'I_2, False)
     \/ (((forall i j, 0 <= mu i j) -> (forall i l, 0 <= mu' i l) ->
          (forall i j l, 0 <= E i j l) -> forall i j l : 'I_2, False)
         \/ ((forall i b : 'I_2, False)
             \/ ((forall i j l : 'I_2, False) \/ (forall i b : 'I_2, False))))).
Proof.
pose J := const_mx 1 : 'M[rat]_2.
move=> /(_ 0 0 0 J J 0 0 (fun _ _ _ => 1) (fun _ _ _ => 4%:R^-1) 0 0 0).
case=> [i|i j l|i b|j l a|j l b|/(_ 0)|[no|[/(_ 0 0)|[/(_ 0 0 0)|/(_ 0 0)]]]] //.
- by rewrite !sum2 !mxE.
- by rewrite !sum2 !mxE.
- by rewrite !sum2 !mxE.
- by rewrite !mxE.
- by rewrite !mxE.
- by apply: (no _ _ _ 0 0 0) => // i j; rewrite mxE.
Qed.

Theorem prefix :
  forall (F : fieldType) (n m m' d : nat) (mu : 'M[F]_(n, m)) (mu' : 'M[F]_(n, m'))
    (E E' : 'I_n -> 'I_m -> 'I_m' -> F) (v w : 'M[F]_(m, d)) (v' w' : 'M[F]_(m', d)),
  let Z (K : 'I_n -> 'I_m -> 'I_m' -> F) i := \sum_j \sum_l mu i j * mu' i l * K i j l in
  let y (K : 'I_n -> 'I_m -> 'I_m' -> F) (s : 'M[F]_(m, d)) (t : 'M[F]_(m', d)) i b :=
    (\sum_j \sum_l mu i j * mu' i l * K i j l * (s j b * t l b)) / Z K i in
  (forall i : 'I_n,
     (forall j l, mu i j != 0 -> mu' i l != 0 ->
        E i j l = E' i j l /\ forall b, v j b = w j b /\ v' l b = w' l b) ->
     Z E i = Z E' i /\ forall b, y E v v' i b = y E' w w' i b)
  /\ (forall i : 'I_n,
       (forall j, mu i j = (j <= i)%N%:R) -> (forall l, mu' i l = (l <= i)%N%:R) ->
       (forall (j : 'I_m) (l : 'I_m'), (j <= i)%N -> (l <= i)%N ->
          E i j l = E' i j l /\ forall b, v j b = w j b /\ v' l b = w' l b) ->
       Z E i = Z E' i /\ forall b, y E v v' i b = y E' w w' i b)
  /\ (forall (psi s : nat -> F) (t : nat),
       \sum_(j < t.+1) psi j * s j = \sum_(j < t) psi j * s j + psi t * s t).
Proof.
move=> F n m m' d mu mu' E E' v w v' w' Z y.
have same (i : 'I_n) : (forall j l, mu i j != 0 -> mu' i l != 0 ->
        E i j l = E' i j l /\ forall b, v j b = w j b /\ v' l b = w' l b) ->
     Z E i = Z E' i /\ forall b, y E v v' i b = y E' w w' i b.
  move=> agree; have ZE : Z E i = Z E' i.
    apply: eq_bigr => j _; apply: eq_bigr => l _.
    have [->|mj] := eqVneq (mu i j) 0; first by rewrite !mul0r.
    have [->|ml] := eqVneq (mu' i l) 0; first by rewrite !mulr0 !mul0r.
    by have [-> _] := agree j l mj ml.
  split=> // b; rewrite /y ZE; congr (_ / _); apply: eq_bigr => j _; apply: eq_bigr => l _.
  have [->|mj] := eqVneq (mu i j) 0; first by rewrite !mul0r.
  have [->|ml] := eqVneq (mu' i l) 0; first by rewrite !mulr0 !mul0r.
  by have [-> both] := agree j l mj ml; have [-> ->] := both b.
split; first exact: same.
split=> [i muE mu'E agree | psi s t]; last by rewrite big_ord_recr.
apply: same => j l; rewrite muE mu'E; case: leqP => [ji _|]; last by rewrite eqxx.
by case: leqP => [li _|]; [apply: agree | rewrite eqxx].
Qed.

Lemma prefix_witness :
  ~ (forall (mu : 'M[rat]_2) (mu' : 'M[rat]_2) (E E' : 'I_2 -> 'I_2 -> 'I_2 -> rat)
       (v w v' w' : 'M[rat]_2),
     (forall i : 'I_2,
        (forall j l, mu i j != 0 -> mu' i l != 0 ->
           E i j l = E' i j l /\ forall b, v j b = w j b /\ v' l b = w' l b) ->
        forall b : 'I_2, False)
     \/ ((forall i : 'I_2,
           (forall j, mu i j = (j <= i)%N%:R) -> (forall l, mu' i l = (l <= i)%N%:R) ->
           (forall j l : 'I_2, (j <= i)%N -> (l <= i)%N ->
              E i j l = E' i j l /\ forall b, v j b = w j b /\ v' l b = w' l b) ->
           forall b : 'I_2, False)
         \/ (forall (psi s : nat -> rat) (t : nat), False))).
Proof.
pose M := \matrix_(i < 2, j < 2) (j <= i)%N%:R : 'M[rat]_2.
move=> /(_ M M (fun _ _ _ => 0) (fun _ _ _ => 0) 0 0 0 0).
case=> [/(_ 0) no|[/(_ 0) no|/(_ (fun=> 0) (fun=> 0) 0%N) //]].
  by apply: (no _ 0) => j l _ _; split.
by apply: (no _ _ _ 0) => [j|l|j l _ _]; [rewrite mxE | rewrite mxE | split].
Qed.
