From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Lemma selects (R : ringType) (V : lmodType R) n (k : 'I_n) (f : 'I_n -> V) :
  \sum_i (i == k)%:R *: f i = f k.
Proof.
rewrite (bigD1 k) //= eqxx scale1r big1 ?addr0 // => i /negPf ->.
by rewrite scale0r.
Qed.

Lemma selected_row (F : fieldType) a n m (A : 'M[F]_(a, n)) (X : 'M[F]_(n, m)) (r : 'I_a) k :
  (forall i, A r i = (i == k)%:R) -> row r (A *m X) = row k X.
Proof.
move=> Ak; rewrite row_mul mulmx_sum_row -[RHS](selects k (fun i => row i X)).
by apply: eq_bigr => i _; rewrite mxE Ak.
Qed.

Theorem queries :
  forall (F : numFieldType) (n_A n m d : nat) (A : 'M[F]_(n_A, n)) (kappa mu : 'M[F]_(n, m))
    (v : 'I_m -> 'rV[F]_d) (N : 'cV[F]_n) (R : 'M[F]_(n, d)),
  (forall a, exists k, forall i, A a i = (i == k)%:R) ->
  (forall i, N i 0 = \sum_j kappa i j * mu i j) -> (forall i, 0 < N i 0) ->
  (forall i, row i R = (N i 0)^-1 *: \sum_j (kappa i j * mu i j) *: v j) ->
  let kappa_A := A *m kappa in let mu_A := A *m mu in
  let N_A a := \sum_j kappa_A a j * mu_A a j in
  forall a,
  [/\ N_A a = (A *m N) a 0, 0 < N_A a,
      N_A a *: row a (A *m R) = \sum_j (kappa_A a j * mu_A a j) *: v j
    & (N_A a)^-1 *: (\sum_j (kappa_A a j * mu_A a j) *: v j) = row a (A *m R)].
Proof.
move=> F n_A n m d A kappa mu v N R one NE N0 RE kappa_A mu_A N_A a.
have [k Ak] := one a.
have pick p (X : 'M[F]_(n, p)) j : (A *m X) a j = X k j.
  by have /rowP /(_ j) := selected_row X Ak; rewrite !mxE.
have N_AE : N_A a = N k 0.
  by rewrite NE; apply: eq_bigr => j _; rewrite /kappa_A /mu_A !pick.
have pairs : \sum_j (kappa_A a j * mu_A a j) *: v j = \sum_j (kappa k j * mu k j) *: v j.
  by apply: eq_bigr => j _; rewrite /kappa_A /mu_A !pick.
rewrite pick pairs N_AE (selected_row R Ak) RE; split=> //.
by rewrite scalerA mulfV ?scale1r // lt0r_neq0.
Qed.

Lemma queries_witness :
  ~ (forall (A : 'M[rat]_(2, 3)) (kappa mu : 'M[rat]_(3, 2)) (v : 'I_2 -> 'rV[rat]_2)
       (N : 'cV[rat]_3) (R : 'M[rat]_(3, 2)),
     (forall a, exists k, forall i, A a i = (i == k)%:R) ->
     (forall i, N i 0 = \sum_j kappa i j * mu i j) -> (forall i, 0 < N i 0) ->
     (forall i, row i R = (N i 0)^-1 *: \sum_j (kappa i j * mu i j) *: v j) ->
     forall a : 'I_2, False).
Proof.
move=> /(_ (\matrix_(a, i) (i == 0)%:R) (const_mx 1) (const_mx 1) (fun=> 0) (const_mx 2%:R) 0) no.
apply: (no _ _ _ _ 0) => [a|i|i|i]; first by exists 0 => i; rewrite mxE.
- by rewrite !big_ord_recr big_ord0 /= !mxE.
- by rewrite mxE.
- by rewrite row0 big1 ?scaler0 // => j _; rewrite scaler0.
Qed.

Theorem world :
  forall (F : numFieldType) (n m m' d : nat) (B : 'M[F]_(m', m)) (kappa mu : 'M[F]_(n, m))
    (kappa' mu' : 'M[F]_(n, m')) (v : 'I_m -> 'rV[F]_d) (v' : 'I_m' -> 'rV[F]_d),
  (forall p, exists k, forall j, B p j = (j == k)%:R) ->
  (forall i p, kappa' i p = \sum_j B p j * kappa i j) -> (forall p, v' p = \sum_j B p j *: v j) ->
  (forall i j, mu i j = \sum_p mu' i p * B p j) -> (forall i, 0 < \sum_j kappa i j * mu i j) ->
  let N i := \sum_j kappa i j * mu i j in let N' i := \sum_p kappa' i p * mu' i p in
  forall i,
  N' i = N i /\ (N' i)^-1 *: (\sum_p (kappa' i p * mu' i p) *: v' p)
                = (N i)^-1 *: (\sum_j (kappa i j * mu i j) *: v j).
Proof.
move=> F n m m' d B kappa mu kappa' mu' v v' one kappaE vE muE N0 N N' i.
have mass : N' i = N i.
  rewrite /N' /N; under eq_bigr => p _ do rewrite kappaE mulr_suml.
  rewrite exchange_big; apply: eq_bigr => j _; rewrite muE mulr_sumr.
  by apply: eq_bigr => p _; rewrite -mulrA mulrC -mulrA.
split=> //; rewrite mass; congr (_ *: _).
under [RHS]eq_bigr => j _ do rewrite muE mulr_sumr scaler_suml.
rewrite exchange_big; apply: eq_bigr => p _; have [k Bk] := one p.
have kappak : kappa' i p = kappa i k.
  by rewrite kappaE -(selects k (fun j => kappa i j : F^o)); apply: eq_bigr => j _; rewrite Bk.
have vk : v' p = v k.
  by rewrite vE -(selects k v); apply: eq_bigr => j _; rewrite Bk.
rewrite kappak vk -(selects k (fun j => (kappa i j * mu' i p) *: v j)).
by apply: eq_bigr => j _; rewrite Bk scalerA mulrC mulrA.
Qed.

Lemma world_witness :
  ~ (forall (B : 'M[rat]_(3, 2)) (kappa mu : 'M[rat]_2) (kappa' mu' : 'M[rat]_(2, 3))
       (v : 'I_2 -> 'rV[rat]_2) (v' : 'I_3 -> 'rV[rat]_2),
     (forall p, exists k, forall j, B p j = (j == k)%:R) ->
     (forall i p, kappa' i p = \sum_j B p j * kappa i j) ->
     (forall p, v' p = \sum_j B p j *: v j) ->
     (forall i j, mu i j = \sum_p mu' i p * B p j) -> (forall i, 0 < \sum_j kappa i j * mu i j) ->
     forall i : 'I_2, False).
Proof.
move=> /(_ (\matrix_(p, j) (j == 0)%:R) (const_mx 1) (\matrix_(i, j) ((j == 0)%:R *+ 3))
          (const_mx 1) (const_mx 1) (fun=> 0) (fun=> 0)) no.
apply: (no _ _ _ _ _ 0) => [p|i p|p|i j|i].
- by exists 0 => j; rewrite mxE.
- by rewrite sum2 !mxE.
- by rewrite big1 // => j _; rewrite scaler0.
- by rewrite sum3 !mxE !mul1r mulrSr mulr2n.
- by rewrite sum2 !mxE.
Qed.

Theorem affine :
  forall (F : numFieldType) (n m d d_o : nat) (kappa mu w : 'M[F]_(n, m)) (v : 'I_m -> 'cV[F]_d)
    (T : 'M[F]_(d_o, d)) (c : 'cV[F]_d_o),
  (forall i, 0 < \sum_j kappa i j * mu i j) ->
  (forall i j, w i j = kappa i j * mu i j / (\sum_k kappa i k * mu i k)) ->
  forall i,
  \sum_j w i j = 1 /\ \sum_j w i j *: (T *m v j + c) = T *m (\sum_j w i j *: v j) + c.
Proof.
move=> F n m d d_o kappa mu w v T c N0 wE i.
have one : \sum_j w i j = 1.
  by under eq_bigr => j _ do rewrite wE; rewrite -mulr_suml mulfV // lt0r_neq0.
split=> //; under eq_bigr => j _ do rewrite scalerDr.
rewrite big_split /= -scaler_suml one scale1r mulmx_sumr; congr (_ + _).
by apply: eq_bigr => j _; rewrite scalemxAr.
Qed.

Lemma affine_witness :
  ~ (forall (kappa mu w : 'M[rat]_(2, 3)) (v : 'I_3 -> 'cV[rat]_2) (T : 'M[rat]_2)
       (c : 'cV[rat]_2),
     (forall i, 0 < \sum_j kappa i j * mu i j) ->
     (forall i j, w i j = kappa i j * mu i j / (\sum_k kappa i k * mu i k)) ->
     forall i : 'I_2, False).
Proof.
move=> /(_ (const_mx 1) (const_mx 1) (const_mx 3%:R^-1) (fun=> 0) 0 0) no.
by apply: (no _ _ 0) => [i|i j]; rewrite sum3 !mxE.
Qed.

Theorem hull :
  forall (F : numFieldType) (n m d : nat) (kappa mu w : 'M[F]_(n, m)) (v : 'I_m -> 'cV[F]_d),
  (forall i j, 0 <= kappa i j) -> (forall i j, 0 <= mu i j) ->
  (forall i, 0 < \sum_j kappa i j * mu i j) ->
  (forall i j, w i j = kappa i j * mu i j / (\sum_k kappa i k * mu i k)) ->
  forall i,
  [/\ forall j, 0 <= w i j, \sum_j w i j = 1
    & forall (g : 'rV[F]_d) (h : F),
        (forall j, (g *m v j) 0 0 <= h) -> (g *m (\sum_j w i j *: v j)) 0 0 <= h].
Proof.
move=> F n m d kappa mu w v kappa0 mu0 N0 wE i.
have one : \sum_j w i j = 1.
  by under eq_bigr => j _ do rewrite wE; rewrite -mulr_suml mulfV // lt0r_neq0.
have w0 j : 0 <= w i j by rewrite wE divr_ge0 ?mulr_ge0 // ltW.
split=> // g h below; rewrite -[X in _ <= X]mul1r -one mulr_suml mulmx_sumr summxE.
rewrite ler_sum // => j _.
by rewrite -scalemxAr mxE -subr_ge0 -mulrBr mulr_ge0 ?subr_ge0.
Qed.

Lemma hull_witness :
  ~ (forall (kappa mu w : 'M[rat]_(2, 3)) (v : 'I_3 -> 'cV[rat]_2),
     (forall i j, 0 <= kappa i j) -> (forall i j, 0 <= mu i j) ->
     (forall i, 0 < \sum_j kappa i j * mu i j) ->
     (forall i j, w i j = kappa i j * mu i j / (\sum_k kappa i k * mu i k)) ->
     forall i : 'I_2,
     (forall j : 'I_3, False)
     \/ (forall (g : 'rV[rat]_2) (h : rat), (forall j, (g *m v j) 0 0 <= h) -> False)).
Proof.
move=> /(_ (const_mx 1) (const_mx 1) (const_mx 3%:R^-1) (fun=> 0)) no.
case: (no _ _ _ _ 0) => [i j|i j|i|i j|/(_ 0) //|/(_ 0 0) {}no].
- by rewrite mxE.
- by rewrite mxE.
- by rewrite sum3 !mxE.
- by rewrite sum3 !mxE.
- by apply: no => j; rewrite mulmx0 mxE.
Qed.

Theorem signed :
  forall (F : numFieldType) (phi : F) (psi v : 'I_2 -> F),
  phi = 1 -> psi 0 = 2%:R -> psi 1 = -1 -> v 0 = 0 -> v 1 = 1 ->
  let N := \sum_j phi * psi j in
  [/\ N = 1, 0 < N & N^-1 * (\sum_j phi * psi j * v j) = -1].
Proof.
move=> F phi psi v phi1 psi0 psi1 v0 v1 N.
have N1 : N = 1 by rewrite /N sum2 phi1 psi0 psi1 !mul1r -addrA subrr addr0.
split; rewrite N1 ?ltr01 // invr1 mul1r sum2 phi1 psi0 psi1 v0 v1.
by rewrite mulr0 add0r mul1r mulr1.
Qed.

Lemma signed_witness :
  ~ (forall (phi : rat) (psi v : 'I_2 -> rat),
     phi = 1 -> psi 0 = 2%:R -> psi 1 = -1 -> v 0 = 0 -> v 1 = 1 -> False).
Proof.
by move=> /(_ 1 (fun j => if j == 0 then 2%:R else -1) (fun j => if j == 0 then 0 else 1)); apply.
Qed.
