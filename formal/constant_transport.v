From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem constant_transport :
  forall (F : fieldType) (n m d d_v d_o : nat) (P : 'M[F]_(n, m)) (X : 'M[F]_(m, d))
    (W_V : 'M[F]_(d, d_v)) (W_O : 'M[F]_(d_v, d_o)) (b_V : 'rV[F]_d_v) (b_O : 'rV[F]_d_o)
    (i : 'I_n),
  (row i (P *m (X *m W_V + const_mx 1 *m b_V) *m W_O + const_mx 1 *m b_O))^T
  = \sum_j P i j *: ((W_V *m W_O)^T *m (row j X)^T)
    + (\sum_j P i j) *: (W_O^T *m b_V^T) + b_O^T.
Proof.
move=> F n m d d_v d_o P X W_V W_O b_V b_O i.
have ones (k l : nat) (B : 'rV[F]_l) (a : 'I_k) : row a (const_mx 1 *m B) = B.
  by rewrite row_mul row_const [const_mx 1]mx11_scalar mxE mul_scalar_mx scale1r.
have rowD (k l : nat) (A B : 'M[F]_(k, l)) (a : 'I_k) : row a (A + B) = row a A + row a B.
  by apply/rowP => b; rewrite !mxE.
rewrite rowD ones raddfD /=; congr (_ + _).
rewrite !row_mul [row i P *m _]mulmx_sum_row.
under eq_bigr => j _ do rewrite rowD ones scalerDr mxE.
rewrite big_split /= mulmxDl raddfD /=; congr (_ + _).
  rewrite mulmx_suml raddf_sum; apply: eq_bigr => j _ /=.
  by rewrite -scalemxAl linearZ /= row_mul -mulmxA trmx_mul.
by rewrite -scaler_suml -scalemxAl linearZ /= trmx_mul.
Qed.

Lemma constant_transport_witness :
  ~ (forall (P : 'M[rat]_(2, 3)) (X : 'M[rat]_(3, 2)) (W_V : 'M[rat]_(2, 2))
       (W_O : 'M[rat]_(2, 2)) (b_V : 'rV[rat]_2) (b_O : 'rV[rat]_2) (i : 'I_2), False).
Proof. by move=> /(_ 0 0 0 0 0 0 0). Qed.

Theorem kronecker :
  forall (F : fieldType) (n m d d_o : nat) (P : 'M[F]_(n, m)) (T : 'M[F]_(d_o, d))
    (K : 'M[F]_(n * d_o, m * d)),
  (forall X : 'M[F]_(m, d),
     K *m (mxvec X)^T = (mxvec (\matrix_i (\sum_j P i j *: (T *m (row j X)^T)^T)))^T)
  <-> (forall i a j b, K (mxvec_index i a) (mxvec_index j b) = P i j * T a b).
Proof.
move=> F n m d d_o P T K; split=> [walk i a j b | entries X].
  have := walk (delta_mx j b) => /colP /(_ (mxvec_index i a)).
  rewrite !mxE (bigD1 (mxvec_index j b)) //= big1 => [|l]; last first.
    case/mxvec_indexP: l => k c ne; rewrite mxE mxvecE mxE.
    case: eqP => [ek|]; case: eqP => [ec|] //=; rewrite ?mulr0 //.
    by case/eqP: ne; rewrite ek ec.
  rewrite addr0 mxE mxvecE mxE !eqxx mulr1 => ->; rewrite mxvecE mxE summxE.
  rewrite (bigD1 j) //= big1 ?addr0 => [|k ne]; last first.
    rewrite !mxE big1 ?mulr0 // => c _.
    by rewrite !mxE (negbTE ne) mulr0.
  rewrite !mxE; congr (_ * _); rewrite (bigD1 b) //= big1 ?addr0 => [|c ne].
    by rewrite !mxE !eqxx mulr1.
  by rewrite !mxE (negbTE ne) andbF mulr0.
apply/colP=> l; case/mxvec_indexP: l => i a; rewrite !mxE mxvecE mxE summxE.
rewrite (reindex _ (curry_mxvec_bij m d)) /=.
transitivity (\sum_(p : 'I_m * 'I_d) P i p.1 * T a p.2 * X p.1 p.2).
  by apply: eq_bigr => -[j b] _ /=; rewrite entries mxE mxvecE.
rewrite -(pair_bigA _ (fun j b => P i j * T a b * X j b)) /=; apply: eq_bigr => j _.
by rewrite !mxE big_distrr /=; apply: eq_bigr => b _; rewrite !mxE mulrA.
Qed.

Lemma kronecker_witness :
  ~ (forall (P : 'M[rat]_(2, 3)) (T : 'M[rat]_(2, 2)) (K : 'M[rat]_(2 * 2, 3 * 2)), False).
Proof. by move=> /(_ 0 0 0). Qed.

Theorem biases :
  forall (F : fieldType) (n m d_v d_o : nat) (P : 'M[F]_(n, m)) (W_O : 'M[F]_(d_v, d_o))
    (b_V : 'rV[F]_d_v) (b_O : 'rV[F]_d_o),
  ((forall i k, (\sum_j P i j) *: (W_O^T *m b_V^T) + b_O^T
               = (\sum_j P k j) *: (W_O^T *m b_V^T) + b_O^T)
   <-> (forall i k, (\sum_j P i j) *: (W_O^T *m b_V^T) = (\sum_j P k j) *: (W_O^T *m b_V^T)))
  /\ ((forall i, \sum_j P i j = 1) ->
      forall i, (\sum_j P i j) *: (W_O^T *m b_V^T) + b_O^T = W_O^T *m b_V^T + b_O^T).
Proof.
move=> F n m d_v d_o P W_O b_V b_O; split; last by move=> one i; rewrite one scale1r.
by split=> same i k; [apply: addIr (same i k) | rewrite (same i k)].
Qed.

Lemma biases_witness :
  ~ (forall (P : 'M[rat]_(2, 3)) (W_O : 'M[rat]_(2, 2)) (b_V : 'rV[rat]_2) (b_O : 'rV[rat]_2),
     (forall i, \sum_j P i j = 1) -> forall i : 'I_2, False).
Proof.
move=> /(_ (const_mx 3%:R^-1) 0 0 0) no; apply: (no _ 0) => i.
by rewrite !big_ord_recr big_ord0 /= !mxE.
Qed.

Theorem masks_and_sinks :
  forall (F : numFieldType) (n m d d_v d_o : nat) (X : 'M[F]_(m, d)) (W_V : 'M[F]_(d, d_v))
    (W_O : 'M[F]_(d_v, d_o)) (b_V : 'rV[F]_d_v) (b_O : 'rV[F]_d_o),
  let y (P : 'M[F]_(n, m)) := P *m (X *m W_V + const_mx 1 *m b_V) *m W_O + const_mx 1 *m b_O in
  [/\ forall (P P' : 'M[F]_(n, m)) (i : 'I_n),
        (row i (y P'))^T = (row i (y P))^T
          + \sum_j (P' i j - P i j) *: ((W_V *m W_O)^T *m (row j X)^T + W_O^T *m b_V^T),
      forall (E : 'M[F]_(n, m)) (o : 'I_n -> F),
        (forall i j, 0 < E i j) -> (forall i, 0 < o i) ->
        let P := \matrix_(i, j) (E i j / (\sum_k E i k + o i)) : 'M[F]_(n, m) in
        let P' := row_mx P (\col_i (o i / (\sum_k E i k + o i))) : 'M[F]_(n, m + 1) in
        [/\ forall i, \sum_j P i j < 1, forall i, \sum_j P' i j = 1
          & P' *m col_mx (X *m W_V + const_mx 1 *m b_V) 0 *m W_O + const_mx 1 *m b_O = y P]
    & forall (P : 'M[F]_(n, m)) (i : 'I_n),
        (forall j, P i j = 0) -> row i (y P) = b_O].
Proof.
move=> F n m d d_v d_o X W_V W_O b_V b_O y; split=> [P P' i | E o E0 o0 P P' | P i zero].
- have walk Q : (row i (y Q))^T
      = \sum_j Q i j *: ((W_V *m W_O)^T *m (row j X)^T + W_O^T *m b_V^T) + b_O^T.
    rewrite /y constant_transport; congr (_ + _).
    by under [RHS]eq_bigr => j _ do rewrite scalerDr; rewrite big_split /= scaler_suml.
  rewrite !walk addrAC -big_split /=; congr (_ + _); apply: eq_bigr => j _.
  by rewrite -scalerDl [P i j + _]addrC subrK.
- have Z0 i : 0 < \sum_k E i k + o i.
    apply: lt_le_trans (o0 i) _; rewrite -subr_ge0 addrK sumr_ge0 // => k _.
    by rewrite ltW.
  have one i : \sum_j P i j + o i / (\sum_k E i k + o i) = 1.
    under eq_bigr => j _ do rewrite mxE.
    by rewrite -mulr_suml -mulrDl mulfV // gt_eqF.
  split=> [i|i|].
  + by rewrite -(one i) -subr_gt0 addrAC subrr add0r divr_gt0.
  + rewrite big_split_ord /= big_ord1 -[RHS](one i); congr (_ + _); last first.
      by rewrite row_mxEr mxE.
    by apply: eq_bigr => j _; rewrite row_mxEl.
  + by rewrite mul_row_col mulmx0 addr0.
- apply: trmx_inj; rewrite /y constant_transport.
  rewrite !big1 ?scale0r ?add0r // => j _; by rewrite zero ?scale0r.
Qed.

Lemma masks_and_sinks_witness :
  ~ (forall (X : 'M[rat]_(3, 2)) (W_V : 'M[rat]_(2, 2)) (W_O : 'M[rat]_(2, 2)) (b_V : 'rV[rat]_2)
       (b_O : 'rV[rat]_2),
     (forall (P P' : 'M[rat]_(2, 3)) (i : 'I_2), False)
     \/ ((forall (E : 'M[rat]_(2, 3)) (o : 'I_2 -> rat),
           (forall i j, 0 < E i j) -> (forall i, 0 < o i) ->
           (forall i : 'I_2, False) \/ (forall i : 'I_2, False))
         \/ (forall (P : 'M[rat]_(2, 3)) (i : 'I_2), (forall j, P i j = 0) -> False))).
Proof.
move=> /(_ 0 0 0 0 0) [/(_ 0 0 0) // | [no | /(_ 0 0) no]].
  have [i j||/(_ 0)|/(_ 0)] := no (const_mx 1) (fun=> 1); rewrite ?mxE //.
by apply: no => j; rewrite mxE.
Qed.

Theorem value_width :
  forall (F : fieldType) (d d_o : nat) (T : 'M[F]_(d_o, d)),
  (forall (d_v : nat) (W_V : 'M[F]_(d, d_v)) (W_O : 'M[F]_(d_v, d_o)),
     (W_V *m W_O)^T = T -> (\rank T <= d_v)%N)
  /\ exists (W_V : 'M[F]_(d, \rank T)) (W_O : 'M[F]_(\rank T, d_o)), (W_V *m W_O)^T = T.
Proof.
move=> F d d_o T; split=> [d_v W_V W_O <- |].
  by rewrite mxrank_tr (leq_trans (mxrankM_maxl _ _)) ?rank_leq_col.
exists (row_base T)^T, (col_base T)^T; by rewrite -trmx_mul trmxK mulmx_base.
Qed.

Lemma value_width_witness :
  ~ (forall T : 'M[rat]_(2, 3),
     forall (d_v : nat) (W_V : 'M[rat]_(3, d_v.+2)) (W_O : 'M[rat]_(d_v.+2, 2)),
     (W_V *m W_O)^T = T -> False).
Proof. by move=> /(_ 0 0%N 0 0); apply; rewrite mulmx0 trmx0. Qed.
