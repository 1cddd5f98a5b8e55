From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums inner_products.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem one_token :
  forall (F : numFieldType) (n d : nat) (x : 'I_n -> 'cV[F]_d) (G : 'I_n -> 'M[F]_d) (S : 'M[F]_n),
  (forall i j, S i j = - 2%:R^-1 * ((x i - x j)^T *m G i *m (x i - x j)) 0 0) ->
  forall i, S i i = 0 /\ \rank (\matrix_(k < 1, l < 1) S i i) = 0%N.
Proof.
move=> F n d x G S SE i.
have diag : S i i = 0 by rewrite SE subrr mulmx0 mxE mulr0.
split=> //; apply/eqP; rewrite mxrank_eq0; apply/eqP/matrixP => k l.
by rewrite !mxE.
Qed.

Lemma one_token_witness :
  ~ (forall (x : 'I_2 -> 'cV[rat]_2) (G : 'I_2 -> 'M[rat]_2) (S : 'M[rat]_2),
     (forall i j, S i j = - 2%:R^-1 * ((x i - x j)^T *m G i *m (x i - x j)) 0 0) ->
     forall i : 'I_2, False).
Proof.
move=> /(_ (fun=> 0) (fun=> 0) 0) no; apply: (no _ 0) => i j.
by rewrite mulmx0 mul0mx !mxE mulr0.
Qed.

(* Moments of coefficients c on the rows of X: a score row is a function of them. *)
Section Moments.
Variables (F : numFieldType) (n d : nat) (X V : 'M[F]_(n, d)) (c : 'cV[F]_n).
Let s := \sum_j c j 0.
Let m a := \sum_j c j 0 * X j a.
Let M a b := \sum_j c j 0 * (X j a * X j b).

Lemma score_row i :
  \sum_j c j 0 * (\sum_a (X i a - X j a) ^+ 2 + (\sum_a V i a * (X i a - X j a)) ^+ 2)
  = (\sum_a (s * X i a ^+ 2 - (X i a * m a) *+ 2 + M a a))
    + (s * (\sum_a V i a * X i a) ^+ 2
       - ((\sum_a V i a * X i a) * (\sum_a V i a * m a)) *+ 2
       + \sum_a \sum_b V i a * V i b * M a b).
Proof.
have linear (f g : 'I_n -> F) : \sum_j c j 0 * (f j + g j)
    = \sum_j c j 0 * f j + \sum_j c j 0 * g j.
  by rewrite -big_split; apply: eq_bigr => j _; rewrite mulrDr.
have square (p : F) (q : 'I_n -> F) : \sum_j c j 0 * (p - q j) ^+ 2
    = s * p ^+ 2 - (p * \sum_j c j 0 * q j) *+ 2 + \sum_j c j 0 * q j ^+ 2.
  transitivity (\sum_j (c j 0 * p ^+ 2 - (c j 0 * q j * p) *+ 2 + c j 0 * q j ^+ 2)).
    apply: eq_bigr => j _; rewrite sqrrB mulrDr mulrBr mulrnAr; congr (_ - _ *+ 2 + _).
    by rewrite mulrCA mulrC.
  by rewrite big_split sumrB /= -mulr_suml sumrMnl -mulr_suml [p * _]mulrC.
rewrite linear; congr (_ + _).
  under eq_bigr => j _ do rewrite mulr_sumr.
  rewrite exchange_big; apply: eq_bigr => a _ /=; rewrite square /m /M.
  by congr (_ + _); apply: eq_bigr => j _; rewrite expr2.
pose t j := \sum_a V i a * X j a.
have tB j : \sum_a V i a * (X i a - X j a) = t i - t j.
  by rewrite -sumrB; apply: eq_bigr => a _; rewrite mulrBr.
under eq_bigr => j _ do rewrite tB.
have tm : \sum_a V i a * m a = \sum_j c j 0 * t j.
  under eq_bigr => a _ do rewrite /m mulr_sumr.
  rewrite exchange_big; apply: eq_bigr => j _ /=; rewrite /t mulr_sumr.
  by apply: eq_bigr => a _; rewrite mulrCA.
rewrite square tm; congr (_ + _).
transitivity (\sum_j \sum_a \sum_b c j 0 * (V i a * V i b * (X j a * X j b))).
  apply: eq_bigr => j _; rewrite expr2 /t big_distrlr /= mulr_sumr.
  apply: eq_bigr => a _; rewrite mulr_sumr; apply: eq_bigr => b _.
  by rewrite [V i a * _ * _]mulrACA.
rewrite exchange_big; apply: eq_bigr => a _; rewrite exchange_big; apply: eq_bigr => b _ /=.
by rewrite /M mulr_sumr; apply: eq_bigr => j _; rewrite mulrCA.
Qed.
End Moments.

Section Lattice.
Variables (F : numFieldType) (d f : nat) (s t : 'I_f -> 'I_d.+1).
Hypothesis order : forall k, (s k < t k)%N.
Hypothesis simple : forall k l, s k = s l -> t k = t l -> k = l.
Let E := \matrix_(k < f, a < d.+1) ((a == s k)%:R + (a == t k)%:R) : 'M[F]_(f, d.+1).
Let X := col_mx 0 (col_mx 1%:M (col_mx 2%:R%:M E)) : 'M[F]_(1 + (d.+1 + (d.+1 + f)), d.+1).
Let V := col_mx 0 (col_mx 0 (col_mx 1%:M E)) : 'M[F]_(1 + (d.+1 + (d.+1 + f)), d.+1).
Let i0 : 'I_(1 + (d.+1 + (d.+1 + f))) := lshift _ 0.
Let i1 a : 'I_(1 + (d.+1 + (d.+1 + f))) := rshift 1 (lshift _ a).
Let i2 a : 'I_(1 + (d.+1 + (d.+1 + f))) := rshift 1 (rshift d.+1 (lshift f a)).
Let i3 k : 'I_(1 + (d.+1 + (d.+1 + f))) := rshift 1 (rshift d.+1 (rshift d.+1 k)).

Lemma X0 b : X i0 b = 0. Proof. by rewrite col_mxEu mxE. Qed.
Lemma X1 a b : X (i1 a) b = (a == b)%:R. Proof. by rewrite col_mxEd col_mxEu mxE. Qed.
Lemma X2 a b : X (i2 a) b = 2%:R * (a == b)%:R.
Proof. by rewrite !col_mxEd col_mxEu mxE mulr_natr. Qed.
Lemma X3 k b : X (i3 k) b = E k b. Proof. by rewrite !col_mxEd. Qed.
Lemma V0 b : V i0 b = 0. Proof. by rewrite col_mxEu mxE. Qed.
Lemma V1 a b : V (i1 a) b = 0. Proof. by rewrite col_mxEd col_mxEu mxE. Qed.
Lemma V2 a b : V (i2 a) b = (a == b)%:R. Proof. by rewrite !col_mxEd col_mxEu mxE. Qed.
Lemma V3 k b : V (i3 k) b = E k b. Proof. by rewrite !col_mxEd. Qed.

Lemma pick a (g : 'I_d.+1 -> F) : \sum_b (a == b)%:R * g b = g a.
Proof.
rewrite (bigD1 a) //= eqxx mul1r big1 ?addr0 // => b; rewrite eq_sym => /negPf ->.
by rewrite mul0r.
Qed.

Lemma pick_edge k (g : 'I_d.+1 -> F) : \sum_b E k b * g b = g (s k) + g (t k).
Proof.
rewrite -(pick (s k)) -(pick (t k)) -big_split; apply: eq_bigr => b _ /=.
by rewrite mxE mulrDl ![b == _]eq_sym.
Qed.

Lemma by_parts (g : 'I_(1 + (d.+1 + (d.+1 + f))) -> F) :
  \sum_j g j = g i0 + (\sum_a g (i1 a) + (\sum_a g (i2 a) + \sum_k g (i3 k))).
Proof. by rewrite big_split_ord big_ord1 /= big_split_ord /= big_split_ord. Qed.

Variable c : 'cV[F]_(1 + (d.+1 + (d.+1 + f))).
Hypothesis kernel : forall i, \sum_j c j 0
  * (\sum_a (X i a - X j a) ^+ 2 + (\sum_a V i a * (X i a - X j a)) ^+ 2) = 0.

Let S := \sum_j c j 0.
Let m a := \sum_j c j 0 * X j a.
Let M a b := \sum_j c j 0 * (X j a * X j b).

(* The part of a score row without v, and the part with it. *)
Lemma row_zero i (x v : 'I_d.+1 -> F) : X i =1 x -> V i =1 v ->
  S * (\sum_a x a * x a) - (\sum_a x a * m a) *+ 2 + \sum_a M a a
  + (S * (\sum_a v a * x a) ^+ 2 - ((\sum_a v a * x a) * (\sum_a v a * m a)) *+ 2
     + \sum_a v a * \sum_b v b * M a b) = 0.
Proof.
move=> xE vE; rewrite -[RHS](kernel i) score_row -/S.
have vx : \sum_a V i a * X i a = \sum_a v a * x a.
  by apply: eq_bigr => a _; rewrite xE vE.
have vm : \sum_a V i a * m a = \sum_a v a * m a by apply: eq_bigr => a _; rewrite vE.
have vM : \sum_a \sum_b V i a * V i b * M a b = \sum_a v a * \sum_b v b * M a b.
  apply: eq_bigr => a _; rewrite mulr_sumr; apply: eq_bigr => b _.
  by rewrite !vE mulrA.
rewrite vx vm vM; congr (_ + _).
rewrite big_split sumrB /= sumrMnl mulr_sumr.
have -> : \sum_a X i a * m a = \sum_a x a * m a by apply: eq_bigr => a _; rewrite xE.
by congr (_ - _ + _); apply: eq_bigr => a _; rewrite xE expr2.
Qed.
Lemma none (g : 'I_d.+1 -> F) : \sum_a 0 * g a = 0.
Proof. by rewrite big1 // => a _; rewrite mul0r. Qed.

Lemma trace0 : \sum_a M a a = 0.
Proof.
have /= := @row_zero i0 (fun=> 0) (fun=> 0) X0 V0.
by rewrite !none expr0n !(mulr0, mul0r, mul0rn, oppr0, add0r, addr0).
Qed.

Lemma first_moment a : S = m a *+ 2.
Proof.
have /= := @row_zero (i1 a) (fun b => (a == b)%:R) (fun=> 0) (X1 a) (V1 a).
rewrite !none !pick eqxx mulr1 trace0 expr0n !(mulr0, mul0r, mul0rn, oppr0, add0r, addr0) => /eqP.
by rewrite subr_eq0 => /eqP.
Qed.
Lemma pick2 a (g : 'I_d.+1 -> F) : \sum_b 2%:R * (a == b)%:R * g b = 2%:R * g a.
Proof. by rewrite -[g a]pick mulr_sumr; apply: eq_bigr => b _; rewrite mulrA. Qed.

Lemma second_moment a : M a a = - (S *+ 4).
Proof.
have /= := @row_zero (i2 a) (fun b => 2%:R * (a == b)%:R) (fun b => (a == b)%:R) (X2 a) (V2 a).
rewrite !pick2 !pick eqxx !mulr1 trace0 addr0 ![2%:R * m a]mulr_natl -!first_moment.
rewrite -natrM -natrX !mulr_natr.
rewrite -!mulrnBr // addrA -mulrnDr addrC => /eqP.
by rewrite addr_eq0 => /eqP.
Qed.

Lemma S0 : S = 0.
Proof.
have /eqP := trace0; under eq_bigr => a _ do rewrite second_moment.
by rewrite sumr_const card_ord mulrn_eq0 /= oppr_eq0 mulrn_eq0 /= => /eqP.
Qed.

Lemma m0 a : m a = 0.
Proof. by have /esym/eqP := first_moment a; rewrite S0 mulrn_eq0 /= => /eqP. Qed.

Lemma M0 a : M a a = 0.
Proof. by rewrite second_moment S0 mul0rn oppr0. Qed.

Lemma Mst k : M (s k) (t k) = 0.
Proof.
have /= := @row_zero (i3 k) (E k) (E k) (X3 k) (V3 k).
rewrite !pick_edge !m0 !M0 trace0 S0 !(mulr0, mul0r, mul0rn, oppr0, add0r, addr0).
have -> : M (t k) (s k) = M (s k) (t k).
  by apply: eq_bigr => j _; rewrite [X j (t k) * _]mulrC.
by rewrite -mulr2n => /eqP; rewrite mulrn_eq0 /= => /eqP.
Qed.

Lemma distinct k : (s k == t k) = false.
Proof. by apply/negbTE/eqP => eq; have := order k; rewrite eq ltnn. Qed.

Lemma other_edge k l : E l (s k) * E l (t k) = (l == k)%:R.
Proof.
rewrite !mxE; have [->|lk] := eqVneq l k.
  by rewrite !eqxx [t k == _]eq_sym distinct addr0 add0r mulr1.
have [ss|_] := eqVneq (s k) (s l).
  have [tt|_] := eqVneq (t k) (t l); first by case/eqP: lk; apply/esym/simple.
  by rewrite -ss [t k == _]eq_sym distinct addr0 mulr0.
have [st|_] := eqVneq (s k) (t l); last by rewrite addr0 mul0r.
have [ts|_] := eqVneq (t k) (s l).
  have := order k; rewrite st ts => less.
  by have := ltn_trans less (order l); rewrite ltnn.
by rewrite -st [t k == _]eq_sym distinct addr0 mulr0.
Qed.

Lemma edges0 k : c (i3 k) 0 = 0.
Proof.
rewrite -(Mst k) /M by_parts X0 mul0r mulr0 add0r.
rewrite big1 => [|a _]; last first.
  rewrite !X1; have [->|] := eqVneq a (s k); first by rewrite distinct !mulr0.
  by rewrite mul0r mulr0.
rewrite big1 => [|a _]; last first.
  rewrite !X2; have [->|] := eqVneq a (s k); first by rewrite distinct !mulr0.
  by rewrite mulr0 mul0r mulr0.
rewrite !add0r (bigD1 k) //= big1 => [|l lk]; last first.
  by rewrite !X3 other_edge (negbTE lk) mulr0.
by rewrite !X3 other_edge eqxx mulr1 addr0.
Qed.

Lemma doubles0 a : c (i1 a) 0 = 0 /\ c (i2 a) 0 = 0.
Proof.
have pickc (h : 'I_d.+1 -> F) (q : F) : \sum_e h e * (q * (e == a)%:R) = q * h a.
  rewrite -[h a](pick a h) mulr_sumr; apply: eq_bigr => e _.
  by rewrite [e == a]eq_sym mulrCA [h e * _]mulrC.
have e3 (g : 'I_f -> F) : \sum_k c (i3 k) 0 * g k = 0.
  by rewrite big1 // => k _; rewrite edges0 mul0r.
have first : c (i1 a) 0 + 2%:R * c (i2 a) 0 = 0.
  rewrite -(m0 a) /m by_parts X0 mulr0 add0r e3 addr0; congr (_ + _).
    rewrite -[LHS]mul1r -(pickc (fun e => c (i1 e) 0)); apply: eq_bigr => e _.
    by rewrite X1 mul1r.
  by rewrite -(pickc (fun e => c (i2 e) 0)); apply: eq_bigr => e _; rewrite X2.
have second : c (i1 a) 0 + 4%:R * c (i2 a) 0 = 0.
  rewrite -(M0 a) /M by_parts X0 mulr0 mulr0 add0r e3 addr0; congr (_ + _).
    rewrite -[LHS]mul1r -(pickc (fun e => c (i1 e) 0)); apply: eq_bigr => e _.
    by rewrite X1 mul1r -natrM mulnb andbb.
  rewrite -(pickc (fun e => c (i2 e) 0)); apply: eq_bigr => e _.
  by rewrite X2 mulrACA -!natrM mulnb andbb.
have two : c (i2 a) 0 = 0.
  have /eqP : 2%:R * c (i2 a) 0 = 0.
    have -> : 2%:R * c (i2 a) 0 = c (i1 a) 0 + 4%:R * c (i2 a) 0 - (c (i1 a) 0 + 2%:R * c (i2 a) 0).
      by rewrite opprD addrACA subrr add0r -mulrBl -natrB.
    by rewrite first second subrr.
  by rewrite mulf_eq0 pnatr_eq0 /= => /eqP.
by split=> //; move: first; rewrite two mulr0 addr0.
Qed.

Lemma all0 : c = 0.
Proof.
have first : c i0 0 = 0.
  have := S0; rewrite /S by_parts big1 => [|a _]; last by have [] := doubles0 a.
  rewrite big1 => [|a _]; last by have [] := doubles0 a.
  by rewrite big1 => [|k _]; rewrite ?edges0 ?addr0.
apply/colP => j; rewrite mxE; case: (splitP j) => j1 jE.
  by rewrite (_ : j = i0) //; apply: val_inj; rewrite /= jE ord1.
case: (splitP j1) => a aE.
  by rewrite (_ : j = i1 a); [have [] := doubles0 a | apply: val_inj; rewrite /= jE aE].
case: (splitP a) => b bE.
  by rewrite (_ : j = i2 b); [have [] := doubles0 b | apply: val_inj; rewrite /= jE aE bE].
by rewrite (_ : j = i3 b) ?edges0 //; apply: val_inj; rewrite /= jE aE bE.
Qed.
End Lattice.

Theorem certificate :
  forall (F : numFieldType) (d f : nat) (s t : 'I_f -> 'I_d.+1) (E : 'M[F]_(f, d.+1)),
  (forall k, (s k < t k)%N) -> (forall k l, s k = s l -> t k = t l -> k = l) ->
  E = \matrix_(k, a) ((a == s k)%:R + (a == t k)%:R) ->
  let X := col_mx 0 (col_mx 1%:M (col_mx 2%:R%:M E)) : 'M[F]_(1 + (d.+1 + (d.+1 + f)), d.+1) in
  let V := col_mx 0 (col_mx 0 (col_mx 1%:M E)) : 'M[F]_(1 + (d.+1 + (d.+1 + f)), d.+1) in
  let G i := 1%:M + (row i V)^T *m row i V in
  let S := \matrix_(i, j)
    (- 2%:R^-1 * ((row i X - row j X) *m G i *m (row i X - row j X)^T) 0 0) in
  \det S <> 0.
Proof.
move=> F d f s t E order simple EE X V G S; rewrite {}EE in X V G S *.
have two0 : 2%:R != 0 :> F by rewrite pnatr_eq0.
have SE i j : S i j = - 2%:R^-1 * (\sum_a (X i a - X j a) ^+ 2
    + (\sum_a V i a * (X i a - X j a)) ^+ 2).
  rewrite mxE; congr (_ * _); set u := row i X - row j X.
  have uE a : u 0 a = X i a - X j a by rewrite !mxE.
  have vu : (row i V *m u^T) 0 0 = \sum_a V i a * (X i a - X j a).
    by rewrite mxE; apply: eq_bigr => a _; rewrite [u^T _ _]mxE uE mxE.
  rewrite /G mulmxDr mulmx1 mulmxDl entryD; congr (_ + _).
    by rewrite mxE; apply: eq_bigr => a _; rewrite [u^T _ _]mxE uE expr2.
  rewrite mulmxA -mulmxA mxE big_ord1 vu expr2; congr (_ * _).
  by rewrite -vu -[row i V *m u^T]trmxK [RHS]mxE trmx_mul trmxK.
apply/eqP; rewrite -unitfE -unitmxE.
rewrite -unitmx_tr -row_free_unit -kermx_eq0; apply/eqP/row_matrixP => i; rewrite row0.
set z := row i _; have zS : z *m S^T = 0 by rewrite /z -row_mul mulmx_ker row0.
apply: trmx_inj; rewrite trmx0; apply: (all0 order simple) => j.
have := congr1 (fun A : 'rV_(_) => A 0 j) zS; rewrite mxE [RHS]mxE => sum0.
have half : - 2%:R^-1 != 0 :> F by rewrite oppr_eq0 invr_eq0.
apply: (mulfI half); rewrite mulr0 mulr_sumr -[RHS]sum0; apply: eq_bigr => k _.
by rewrite [z^T _ _]mxE [S^T _ _]mxE SE mulrCA.
Qed.

Lemma certificate_witness :
  ~ (forall (s t : 'I_2 -> 'I_3) (E : 'M[rat]_(2, 3)),
     (forall k, (s k < t k)%N) -> (forall k l, s k = s l -> t k = t l -> k = l) ->
     E = \matrix_(k, a) ((a == s k)%:R + (a == t k)%:R) -> False).
Proof.
move=> /(_ (fun=> ord0) (lift ord0) _ _ _ erefl); apply=> [k|k l _ /lift_inj //].
by rewrite /= /bump.
Qed.
