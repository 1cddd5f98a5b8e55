From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* The inner product of two columns is the entry of x^T y. *)
Lemma dotE (F : fieldType) n (x y : 'cV[F]_n) : (x^T *m y) 0 0 = \sum_a x a 0 * y a 0.
Proof. by rewrite mxE; apply: eq_bigr => a _; rewrite mxE. Qed.

Lemma dotC (F : fieldType) n (x y : 'cV[F]_n) : (x^T *m y) 0 0 = (y^T *m x) 0 0.
Proof. by rewrite !dotE; apply: eq_bigr => a _; rewrite mulrC. Qed.

Lemma entryD (F : fieldType) (A B : 'M[F]_1) : (A + B) 0 0 = A 0 0 + B 0 0.
Proof. by rewrite mxE. Qed.

Lemma entryB (F : fieldType) (A B : 'M[F]_1) : (A - B) 0 0 = A 0 0 - B 0 0.
Proof. by rewrite !mxE. Qed.

Lemma entryZ (F : fieldType) (a : F) (A : 'M[F]_1) : (a *: A) 0 0 = a * A 0 0.
Proof. by rewrite mxE. Qed.

Lemma entry_inj (F : fieldType) (A B : 'M[F]_1) : A 0 0 = B 0 0 -> A = B.
Proof. by move=> eq; apply/matrixP => i j; rewrite !ord1. Qed.

Lemma trmx_sum (F : fieldType) m n k (X : 'I_k -> 'M[F]_(m, n)) :
  (\sum_j X j)^T = \sum_j (X j)^T.
Proof. by apply/matrixP => a b; rewrite mxE !summxE; apply: eq_bigr => j _; rewrite mxE. Qed.

Lemma trD (F : fieldType) m n (X Y : 'M[F]_(m, n)) : (X + Y)^T = X^T + Y^T.
Proof. by apply/matrixP => i j; rewrite !mxE. Qed.

Lemma trB (F : fieldType) m n (X Y : 'M[F]_(m, n)) : (X - Y)^T = X^T - Y^T.
Proof. by apply/matrixP => i j; rewrite !mxE. Qed.

Lemma trZ (F : fieldType) m n (a : F) (X : 'M[F]_(m, n)) : (a *: X)^T = a *: X^T.
Proof. by apply/matrixP => i j; rewrite !mxE. Qed.

Lemma addr_pos (F : numFieldType) (x y : F) : 0 < x -> 0 <= y -> 0 < x + y.
Proof. by move=> x0 y0; apply: lt_le_trans x0 _; rewrite -subr_ge0 addrAC subrr add0r. Qed.

Lemma sum_pos (F : numFieldType) n (f : 'I_n -> F) i :
  0 < f i -> (forall j, 0 <= f j) -> 0 < \sum_j f j.
Proof. by move=> fi f0; rewrite (bigD1 i) //= addr_pos ?sumr_ge0. Qed.

Lemma norm2B (F : fieldType) n (x y : 'cV[F]_n) :
  ((x - y)^T *m (x - y)) 0 0
  = (x^T *m x) 0 0 - ((x^T *m y) 0 0) *+ 2 + (y^T *m y) 0 0.
Proof.
rewrite trB mulmxBl !mulmxBr !entryB [(y^T *m x) 0 0]dotC opprB mulr2n opprD.
by rewrite -!addrA; congr (_ + (_ + _)); rewrite addrC.
Qed.

(* Squared distances see coefficients of sum 0 through one inner product. *)
Lemma squared_form (F : fieldType) n d (c : 'I_n -> F) (y : 'I_n -> 'cV[F]_d) :
  \sum_i c i = 0 ->
  \sum_i \sum_j c i * c j * ((y i - y j)^T *m (y i - y j)) 0 0
  = - (((\sum_i c i *: y i)^T *m (\sum_i c i *: y i)) 0 0 *+ 2).
Proof.
move=> c0; have gone (f : 'I_n -> F) : \sum_i \sum_j c i * c j * f i = 0.
  by rewrite big1 // => i _; rewrite -mulr_suml -mulr_sumr c0 mulr0 mul0r.
have gone' (f : 'I_n -> F) : \sum_i \sum_j c i * c j * f j = 0.
  rewrite exchange_big -[RHS](gone f); apply: eq_bigr => i _; apply: eq_bigr => j _ /=.
  by rewrite [c j * c i]mulrC.
have mixed : \sum_i \sum_j c i * c j * ((y i)^T *m y j) 0 0
    = ((\sum_i c i *: y i)^T *m (\sum_i c i *: y i)) 0 0.
  rewrite trmx_sum mulmx_suml summxE; apply: eq_bigr => i _.
  rewrite mulmx_sumr summxE; apply: eq_bigr => j _.
  by rewrite trZ -scalemxAl -scalemxAr !entryZ mulrA.
transitivity (\sum_i \sum_j (c i * c j * ((y i)^T *m y i) 0 0
    + c i * c j * ((y j)^T *m y j) 0 0
    - (c i * c j * ((y i)^T *m y j) 0 0 + c i * c j * ((y i)^T *m y j) 0 0))).
  apply: eq_bigr => i _; apply: eq_bigr => j _.
  by rewrite norm2B -!mulrDr -mulrBr -mulr2n addrAC.
under eq_bigr => i _ do rewrite sumrB !big_split.
by rewrite sumrB !big_split /= gone (gone' (fun j => ((y j)^T *m y j) 0 0)) mixed !add0r mulr2n.
Qed.

Lemma quad_sum (F : fieldType) n (S : 'M[F]_n) (c : 'cV[F]_n) :
  (c^T *m S *m c) 0 0 = \sum_i \sum_j c i 0 * c j 0 * S i j.
Proof.
rewrite -mulmxA mxE; apply: eq_bigr => i _; rewrite mxE [(S *m c) i 0]mxE mulr_sumr.
by apply: eq_bigr => j _; rewrite -mulrA [S i j * _]mulrC.
Qed.

Section Real.
Variable F : realFieldType.

Lemma norm2_ge0 n (x : 'cV[F]_n) : 0 <= (x^T *m x) 0 0.
Proof. by rewrite dotE sumr_ge0 // => a _; rewrite -expr2 sqr_ge0. Qed.

Lemma norm2_eq0 n (x : 'cV[F]_n) : ((x^T *m x) 0 0 == 0) = (x == 0).
Proof.
apply/eqP/eqP => [|->]; last by rewrite mulmx0 mxE.
rewrite dotE => /eqP; rewrite psumr_eq0 => [/allP zero|a _]; last by rewrite -expr2 sqr_ge0.
apply/colP => a; rewrite mxE; apply/eqP.
by have := zero a (mem_index_enum a); rewrite /= mulf_eq0 orbb.
Qed.

Lemma lagrange n (x y : 'cV[F]_n) :
  \sum_a \sum_b (x a 0 * y b 0 - x b 0 * y a 0) ^+ 2
  = ((x^T *m x) 0 0 * (y^T *m y) 0 0 - (x^T *m y) 0 0 ^+ 2) *+ 2.
Proof.
rewrite !dotE expr2 !big_distrlr /= -sumrB.
have swap : \sum_a \sum_b (x a 0 * x a 0 * (y b 0 * y b 0) - x a 0 * y a 0 * (x b 0 * y b 0))
    = \sum_a \sum_b (x b 0 * x b 0 * (y a 0 * y a 0) - x a 0 * y a 0 * (x b 0 * y b 0)).
  rewrite exchange_big /=; apply: eq_bigr => a _; apply: eq_bigr => b _.
  by congr (_ - _); rewrite mulrC.
under [in RHS]eq_bigr => a _ do rewrite -sumrB.
rewrite mulr2n {2}swap -big_split; apply: eq_bigr => a _; rewrite -big_split.
apply: eq_bigr => b _ /=; rewrite sqrrB !expr2.
rewrite [x a 0 * x a 0 * _]mulrACA [x b 0 * x b 0 * _]mulrACA [x b 0 * y b 0]mulrC.
rewrite [x a 0 * y a 0 * _]mulrACA [y a 0 * x b 0]mulrC mulr2n opprD addrA.
by rewrite -!addrA; congr (_ + (_ + _)); rewrite addrC.
Qed.

Lemma cauchy_schwarz n (x y : 'cV[F]_n) :
  (x^T *m y) 0 0 ^+ 2 <= (x^T *m x) 0 0 * (y^T *m y) 0 0.
Proof.
rewrite -subr_ge0 -(pmulrn_lge0 _ (isT : (0 < 2)%N)) -lagrange.
by apply: sumr_ge0 => a _; apply: sumr_ge0 => b _; rewrite sqr_ge0.
Qed.

Lemma dot_le n (x y : 'cV[F]_n) (s t : F) :
  0 <= s -> 0 <= t -> (x^T *m x) 0 0 = s ^+ 2 -> (y^T *m y) 0 0 = t ^+ 2 ->
  (x^T *m y) 0 0 <= s * t.
Proof.
move=> s0 t0 xs yt; have := cauchy_schwarz x y; rewrite xs yt -exprMn => le.
have [neg|pos] := ltP ((x^T *m y) 0 0) 0; first by rewrite (le_trans (ltW neg)) ?mulr_ge0.
rewrite leNgt; apply/negP => lt; move: le; rewrite leNgt => /negP; apply.
have st0 : 0 <= s * t by rewrite mulr_ge0.
by rewrite -subr_gt0 subr_sqr mulr_gt0 ?subr_gt0 // addr_pos // (le_lt_trans st0 lt).
Qed.

(* The triangle inequality, with lengths that are given. *)
Lemma sum_le n m (p N : 'I_m -> F) (X : 'I_m -> 'cV[F]_n) :
  (forall j, 0 <= p j) -> (forall j, 0 <= N j) ->
  (forall j, ((X j)^T *m X j) 0 0 = N j ^+ 2) ->
  ((\sum_j p j *: X j)^T *m (\sum_j p j *: X j)) 0 0 <= (\sum_j p j * N j) ^+ 2.
Proof.
move=> p0 N0 XN; rewrite expr2 big_distrlr /= trmx_sum mulmx_suml summxE.
apply: ler_sum => j _; rewrite mulmx_sumr summxE; apply: ler_sum => k _.
rewrite trZ -scalemxAl -scalemxAr scalerA mxE mulrACA.
by rewrite -subr_ge0 -mulrBr !mulr_ge0 // subr_ge0 dot_le.
Qed.
End Real.
