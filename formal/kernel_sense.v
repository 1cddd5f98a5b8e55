From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums inner_products.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem conditional :
  forall (F : realFieldType) (n : nat) (S : 'M[F]_n) (o : 'I_n),
  let form (A : 'M[F]_n) (c : 'cV[F]_n) := (c^T *m A *m c) 0 0 in
  let K := \matrix_(i, j) (S i j - S i o - S o j + S o o) in
  [/\ forall (a b c : 'cV[F]_n), \sum_i c i 0 = 0 ->
        form (S + a *m const_mx 1 + const_mx 1 *m b^T) c = form S c,
      forall z : 'cV[F]_n, let c := z - (\sum_k z k 0) *: delta_mx o 0 in
        \sum_i c i 0 = 0 /\ form S c = form K z
    & (forall c : 'cV[F]_n, \sum_i c i 0 = 0 -> 0 <= form S c)
      <-> (forall z : 'cV[F]_n, 0 <= form K z)].
Proof.
move=> F n S o form K.
have zero : (0 : 'M[F]_1) 0 0 = 0 by rewrite mxE.
have ones (c : 'cV[F]_n) : \sum_i c i 0 = 0 -> (const_mx 1 : 'rV_n) *m c = 0.
  move=> c0; apply: entry_inj; rewrite [RHS]mxE -[RHS]c0 mxE.
  by apply: eq_bigr => i _; rewrite mxE mul1r.
have onesT (c : 'cV[F]_n) : \sum_i c i 0 = 0 -> c^T *m (const_mx 1 : 'cV_n) = 0.
  by move=> c0; rewrite -[LHS]trmxK trmx_mul trmxK trmx_const ones ?trmx0.
have unseen (a b c : 'cV[F]_n) : \sum_i c i 0 = 0 ->
    form (S + a *m const_mx 1 + const_mx 1 *m b^T) c = form S c.
  move=> c0; rewrite /form !mulmxDr !mulmxDl !entryD -!mulmxA ones // !mulmx0.
  by rewrite (mulmxA c^T (const_mx 1)) onesT // mul0mx !zero !addr0.
pose e := delta_mx o 0 : 'cV[F]_n.
have KE : K = S + (\col_i (S o o - S i o)) *m const_mx 1 + const_mx 1 *m (\col_j - S o j)^T.
  apply/matrixP => i j; rewrite !mxE !big_ord1 !mxE mulr1 mul1r addrA.
  by rewrite addrAC -!addrA; congr (_ + _); rewrite [RHS]addrC -addrA; congr (_ + _); rewrite addrC.
have KS (c : 'cV[F]_n) : \sum_i c i 0 = 0 -> form K c = form S c.
  by move=> c0; rewrite KE unseen.
have Ke : K *m e = 0.
  by rewrite -colE; apply/colP => i; rewrite !mxE subrK subrr.
have eK : e^T *m K = 0.
  by rewrite trmx_delta -rowE; apply/rowP => j; rewrite !mxE addrAC subrK subrr.
have sum0 (z : 'cV[F]_n) : \sum_i (z - (\sum_k z k 0) *: e) i 0 = 0.
  have e1 : \sum_i e i 0 = 1.
    rewrite (bigD1 o) //= big1 => [|i io]; rewrite /e !mxE ?eqxx ?addr0 //.
    by rewrite (negPf io).
  under eq_bigr => i _ do rewrite mxE [(- (_ *: e) : 'cV_n) i 0]mxE [(_ *: e : 'cV_n) i 0]mxE.
  by rewrite sumrB -mulr_sumr e1 mulr1 subrr.
have KK (z : 'cV[F]_n) : form K (z - (\sum_k z k 0) *: e) = form K z.
  rewrite /form trB trZ mulmxBl -[_ *: e^T *m K]scalemxAl eK scaler0 subr0.
  by rewrite mulmxBr -scalemxAr -[_ *m e]mulmxA Ke mulmx0 scaler0 subr0.
split=> // [z c | ]; first by split; [exact: sum0 | rewrite -KS ?KK ?sum0].
split=> [ge0 z | ge0 c c0]; last by rewrite -KS.
by rewrite -KK KS ?sum0 // ge0 ?sum0.
Qed.

Lemma conditional_witness :
  ~ (forall (S : 'M[rat]_3) (o : 'I_3),
     (forall a b c : 'cV[rat]_3, \sum_i c i 0 = 0 -> False)
     \/ (forall z : 'cV[rat]_3, False)).
Proof.
move=> /(_ 0 0) [no|/(_ 0)//]; apply: (no 0 0 0).
by rewrite big1 // => i _; rewrite mxE.
Qed.

Theorem homogeneous :
  forall (F : realFieldType) (n d : nat) (A G : 'M[F]_d) (x : 'I_n -> 'cV[F]_d) (S : 'M[F]_n),
  G = A^T *m A ->
  (forall i j, S i j = - 2%:R^-1 * ((x i - x j)^T *m G *m (x i - x j)) 0 0) ->
  (forall c : 'cV[F]_n, \sum_i c i 0 = 0 ->
     (c^T *m S *m c) 0 0 = \sum_a (\sum_i c i 0 *: (A *m x i)) a 0 ^+ 2
     /\ 0 <= (c^T *m S *m c) 0 0)
  /\ (forall o i j, S i j - S i o - S o j + S o o = ((x i - x o)^T *m G *m (x j - x o)) 0 0
        /\ ((x i - x o)^T *m G *m (x j - x o)) 0 0
           = \sum_a (A *m (x i - x o)) a 0 * (A *m (x j - x o)) a 0).
Proof.
move=> F n d A G x S GE SE.
have two0 : 2%:R != 0 :> F by rewrite pnatr_eq0.
have inA (u v : 'cV[F]_d) : (u^T *m G *m v) 0 0 = ((A *m u)^T *m (A *m v)) 0 0.
  by rewrite GE trmx_mul !mulmxA.
have half b : 2%:R^-1 * (b *+ 2) = b :> F.
  by rewrite mulrnAr -mulrnAl -[2%:R^-1 *+ 2]mulr_natl mulfV // mul1r.
have back (b : F) : - 2%:R^-1 * - (b *+ 2) = b by rewrite mulrNN half.
split=> [c c0 | o i j]; last first.
  split; last by rewrite inA dotE.
  pose Y k := A *m (x k - x o).
  have Yo : Y o = 0 by rewrite /Y subrr mulmx0.
  have scores k l : S k l = - 2%:R^-1 * ((Y k - Y l)^T *m (Y k - Y l)) 0 0.
    by rewrite SE inA /Y -mulmxBr opprB addrA subrK.
  have So k : S k o = - 2%:R^-1 * ((Y k)^T *m Y k) 0 0 by rewrite scores Yo subr0.
  have oS k : S o k = - 2%:R^-1 * ((Y k)^T *m Y k) 0 0.
    by rewrite scores Yo sub0r -scaleN1r trZ -scalemxAl -scalemxAr scalerA mulrNN mulr1 scale1r.
  rewrite inA -/(Y i) -/(Y j) [S o o]So Yo mulmx0 [(0 : 'M_1) 0 0]mxE mulr0 addr0.
  by rewrite scores So oS -!mulrBr norm2B addrAC addrK addrAC subrr sub0r back.
suff square : (c^T *m S *m c) 0 0 = \sum_a (\sum_i c i 0 *: (A *m x i)) a 0 ^+ 2.
  by split=> //; rewrite square sumr_ge0 // => a _; exact: sqr_ge0.
rewrite quad_sum; under eq_bigr => i _ do under eq_bigr => j _ do
  rewrite SE inA mulmxBr mulrCA.
under eq_bigr => i _ do rewrite -mulr_sumr.
rewrite -mulr_sumr (squared_form _ c0) back dotE.
by apply: eq_bigr => a _; rewrite expr2.
Qed.

Lemma homogeneous_witness :
  ~ (forall (A G : 'M[rat]_2) (x : 'I_3 -> 'cV[rat]_2) (S : 'M[rat]_3),
     G = A^T *m A ->
     (forall i j, S i j = - 2%:R^-1 * ((x i - x j)^T *m G *m (x i - x j)) 0 0) ->
     (forall c : 'cV[rat]_3, \sum_i c i 0 = 0 -> False) \/ (forall o i j : 'I_3, False)).
Proof.
move=> /(_ 0 0 (fun=> 0) 0) no.
case: no => [|i j|/(_ 0) no|/(_ 0 0 0)//]; first by rewrite mulmx0.
  by rewrite mulmx0 mul0mx !mxE mulr0.
by apply: no; rewrite big1 // => i _; rewrite mxE.
Qed.
