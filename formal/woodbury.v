From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Squares.
Variable F : realFieldType.

Lemma square_sum n (x : 'cV[F]_n) : (x^T *m x) 0 0 = \sum_a x a 0 ^+ 2.
Proof. by rewrite mxE; apply: eq_bigr => a _; rewrite mxE expr2. Qed.

Lemma square_ge0 n (x : 'cV[F]_n) : 0 <= (x^T *m x) 0 0.
Proof. by rewrite square_sum sumr_ge0 // => a _; rewrite sqr_ge0. Qed.

Lemma weighted_sum n (D : 'rV[F]_n) (x : 'cV[F]_n) :
  (x^T *m diag_mx D *m x) 0 0 = \sum_a D 0 a * x a 0 ^+ 2.
Proof.
rewrite -mulmxA mul_diag_mx mxE; apply: eq_bigr => a _.
by rewrite !mxE mulrCA expr2.
Qed.

Lemma weighted_eq0 n (D : 'rV[F]_n) (x : 'cV[F]_n) :
  (forall a, 0 < D 0 a) -> (x^T *m diag_mx D *m x) 0 0 <= 0 -> x = 0.
Proof.
move=> D0; rewrite weighted_sum => le0; apply/colP => a; rewrite mxE.
have ge0 b : 0 <= D 0 b * x b 0 ^+ 2 by rewrite mulr_ge0 ?sqr_ge0 // ltW.
have : \sum_b D 0 b * x b 0 ^+ 2 == 0 by rewrite eq_le le0 sumr_ge0.
rewrite psumr_eq0 => [/allP /(_ a (mem_index_enum a)) /=|b _]; last exact: ge0.
by rewrite mulf_eq0 sqrf_eq0 (negbTE (lt0r_neq0 (D0 a))) => /eqP.
Qed.

Definition reciprocal n (D : 'rV[F]_n) : 'rV[F]_n := \row_a (D 0 a)^-1.

Lemma reciprocal_gt0 n (D : 'rV[F]_n) : (forall a, 0 < D 0 a) -> forall a, 0 < reciprocal D 0 a.
Proof. by move=> D0 a; rewrite mxE invr_gt0. Qed.

Lemma reciprocalK n (D : 'rV[F]_n) :
  (forall a, 0 < D 0 a) -> diag_mx D *m diag_mx (reciprocal D) = 1%:M.
Proof.
move=> D0; rewrite mulmx_diag; have -> : 1%:M = diag_mx (const_mx 1) :> 'M[F]_n.
  by rewrite diag_const_mx.
by congr diag_mx; apply/rowP => a; rewrite !mxE mulfV ?lt0r_neq0.
Qed.

Lemma diag_inverse n (D : 'rV[F]_n) :
  (forall a, 0 < D 0 a) -> invmx (diag_mx D) = diag_mx (reciprocal D).
Proof.
move=> D0; have DK := reciprocalK D0; have [DU _] := mulmx1_unit DK.
by rewrite -[LHS]mulmx1 -DK mulKmx.
Qed.

Lemma diag_unit n (D : 'rV[F]_n) : (forall a, 0 < D 0 a) -> diag_mx D \in unitmx.
Proof. by move=> /reciprocalK /mulmx1_unit []. Qed.

Lemma gram d r (U : 'M[F]_(d, r)) (D : 'rV[F]_d) (y : 'cV[F]_r) :
  (y^T *m (1%:M + U^T *m diag_mx D *m U) *m y) 0 0
  = (y^T *m y) 0 0 + ((U *m y)^T *m diag_mx D *m (U *m y)) 0 0.
Proof. by rewrite mulmxDr mulmxDl mulmx1 mxE trmx_mul !mulmxA. Qed.

Lemma gram_unit d r (U : 'M[F]_(d, r)) (D : 'rV[F]_d) :
  (forall a, 0 < D 0 a) -> 1%:M + U^T *m diag_mx D *m U \in unitmx.
Proof.
move=> D0; rewrite -row_free_unit -kermx_eq0; apply/eqP/row_matrixP => i; rewrite row0.
set z := row i _; have zC : z *m (1%:M + U^T *m diag_mx D *m U) = 0.
  by rewrite /z -row_mul mulmx_ker row0.
have := gram U D z^T; rewrite trmxK zC mul0mx mxE => /esym sum0.
have z0 : (z *m z^T) 0 0 <= 0.
  rewrite -sum0 -subr_ge0 addrAC subrr add0r weighted_sum sumr_ge0 // => a _.
  by rewrite mulr_ge0 ?sqr_ge0 // ltW.
apply: trmx_inj; rewrite trmx0; apply: (@weighted_eq0 _ (const_mx 1)) => [a|].
  by rewrite mxE ltr01.
by rewrite diag_const_mx mulmx1 trmxK.
Qed.
End Squares.

Theorem capacitance :
  forall (F : realFieldType) (d r : nat) (D : 'rV[F]_d) (U : 'M[F]_(d, r)),
  (forall a, 0 < D 0 a) ->
  let C := 1%:M + U^T *m invmx (diag_mx D) *m U in
  let G := diag_mx D + U *m U^T in
  [/\ forall y : 'cV_r, (y^T *m y) 0 0 <= (y^T *m C *m y) 0 0,
      forall z : 'cV_d, (z^T *m diag_mx D *m z) 0 0 <= (z^T *m G *m z) 0 0,
      forall y : 'cV_r, C *m y = 0 -> y = 0 & forall z : 'cV_d, G *m z = 0 -> z = 0].
Proof.
move=> F d r D U D0 C G.
have CE : C = 1%:M + U^T *m diag_mx (reciprocal D) *m U by rewrite /C diag_inverse.
have D'0 := reciprocal_gt0 D0.
have leC (y : 'cV_r) : (y^T *m y) 0 0 <= (y^T *m C *m y) 0 0.
  rewrite CE gram -subr_ge0 addrAC subrr add0r weighted_sum sumr_ge0 // => a _.
  by rewrite mulr_ge0 ?sqr_ge0 // ltW.
have leG (z : 'cV_d) : (z^T *m diag_mx D *m z) 0 0 <= (z^T *m G *m z) 0 0.
  have -> : (z^T *m G *m z) 0 0
            = (z^T *m diag_mx D *m z) 0 0 + ((U^T *m z)^T *m (U^T *m z)) 0 0.
    by rewrite /G mulmxDr mulmxDl [LHS]mxE trmx_mul trmxK !mulmxA.
  by rewrite -subr_ge0 addrAC subrr add0r square_ge0.
split=> // [y zero | z zero].
  apply: (@weighted_eq0 _ _ (const_mx 1)) => [a|]; first by rewrite mxE ltr01.
  by rewrite diag_const_mx mulmx1 (le_trans (leC y)) // -mulmxA zero mulmx0 mxE.
by apply: (weighted_eq0 D0); rewrite (le_trans (leG z)) // -mulmxA zero mulmx0 mxE.
Qed.

Lemma capacitance_witness :
  ~ (forall (D : 'rV[rat]_3) (U : 'M[rat]_(3, 2)), (forall a, 0 < D 0 a) ->
     (forall y : 'cV[rat]_2, False) \/ ((forall z : 'cV[rat]_3, False)
     \/ ((forall y : 'cV[rat]_2,
            (1%:M + U^T *m invmx (diag_mx D) *m U) *m y = 0 -> False)
         \/ (forall z : 'cV[rat]_3, (diag_mx D + U *m U^T) *m z = 0 -> False)))).
Proof.
move=> /(_ (const_mx 1) 0) no; case: no => [a | /(_ 0) // | [/(_ 0) // | [/(_ 0) | /(_ 0)]]].
- by rewrite mxE.
- by apply; rewrite mulmx0.
- by apply; rewrite mulmx0.
Qed.

Theorem inverse :
  forall (F : realFieldType) (d r : nat) (D : 'rV[F]_d) (U : 'M[F]_(d, r)),
  (forall a, 0 < D 0 a) ->
  let D' := invmx (diag_mx D) in
  let K := invmx (1%:M + U^T *m D' *m U) in
  let G := diag_mx D + U *m U^T in
  [/\ K *m (1%:M + U^T *m D' *m U) = 1%:M, G *m (D' - D' *m U *m K *m U^T *m D') = 1%:M
    & (D' - D' *m U *m K *m U^T *m D') *m G = 1%:M].
Proof.
move=> F d r D U D0 D' K G; have DU := diag_unit D0.
have CU : 1%:M + U^T *m D' *m U \in unitmx.
  by rewrite /D' diag_inverse // gram_unit // => a; rewrite mxE invr_gt0.
have left : G *m (D' - D' *m U *m K *m U^T *m D') = 1%:M.
  have GDU : G *m (D' *m U) = U *m (1%:M + U^T *m D' *m U).
    by rewrite /G mulmxDl mulmxDr mulmx1 (mulKVmx DU) !mulmxA.
  have GD : G *m D' = 1%:M + U *m U^T *m D' by rewrite /G mulmxDl mulmxV.
  rewrite mulmxBr !mulmxA -(mulmxA G) GDU -(mulmxA U) (mulmxV CU) mulmx1 GD.
  by rewrite addrK.
by split; rewrite ?mulVmx // (mulmx1C left).
Qed.

Lemma inverse_witness :
  ~ (forall (D : 'rV[rat]_3) (U : 'M[rat]_(3, 2)), (forall a, 0 < D 0 a) -> False).
Proof. by move=> /(_ (const_mx 1) 0); apply=> a; rewrite mxE. Qed.

Theorem determinant :
  forall (F : realFieldType) (d r : nat) (D : 'rV[F]_d) (U : 'M[F]_(d, r)),
  (forall a, 0 < D 0 a) ->
  let C := 1%:M + U^T *m invmx (diag_mx D) *m U in
  let G := diag_mx D + U *m U^T in
  [/\ \det (block_mx (diag_mx D) (- U) U^T 1%:M) = \det (diag_mx D) * \det C,
      \det (block_mx (diag_mx D) (- U) U^T 1%:M) = \det G
    & \det G = \det (diag_mx D) * \det C].
Proof.
move=> F d r D U D0 C G; have DU := diag_unit D0.
have first : \det (block_mx (diag_mx D) (- U) U^T 1%:M) = \det (diag_mx D) * \det C.
  have -> : block_mx (diag_mx D) (- U) U^T 1%:M
      = block_mx 1%:M 0 (U^T *m invmx (diag_mx D)) 1%:M *m block_mx (diag_mx D) (- U) 0 C.
    rewrite mulmx_block !mul1mx !mul0mx !addr0 (mulmxKV DU) mulmxN /C; congr block_mx.
    by rewrite addrC addrK.
  by rewrite det_mulmx det_lblock det_ublock !det1 !mul1r.
have second : \det (block_mx (diag_mx D) (- U) U^T 1%:M) = \det G.
  have -> : block_mx (diag_mx D) (- U) U^T 1%:M
      = block_mx 1%:M (- U) 0 1%:M *m block_mx G 0 U^T 1%:M.
    rewrite mulmx_block !mul1mx !mul0mx !mulmx1 !add0r mulNmx /G.
    by rewrite addrK.
  by rewrite det_mulmx det_lblock det_ublock !det1 !mulr1 mul1r.
by split=> //; rewrite -second.
Qed.

Lemma determinant_witness :
  ~ (forall (D : 'rV[rat]_3) (U : 'M[rat]_(3, 2)), (forall a, 0 < D 0 a) -> False).
Proof. by move=> /(_ (const_mx 1) 0); apply=> a; rewrite mxE. Qed.

Theorem pair :
  forall (F : fieldType) (d r : nat) (D : 'rV[F]_d) (U : 'M[F]_(d, r)) (x : 'cV[F]_d),
  let w := U^T *m x in
  let v := (diag_mx D + U *m U^T) *m x in
  v = diag_mx D *m x + U *m w
  /\ (v^T *m x) 0 0 = (\sum_a D 0 a * x a 0 ^+ 2) + (\sum_c w c 0 ^+ 2).
Proof.
move=> F d r D U x w v; have vE : v = diag_mx D *m x + U *m w by rewrite /v mulmxDl mulmxA.
split=> //; rewrite vE raddfD /= mulmxDl mxE; congr (_ + _).
  rewrite mul_diag_mx mxE; apply: eq_bigr => a _.
  by rewrite !mxE -mulrA expr2.
by rewrite trmx_mul -mulmxA mxE; apply: eq_bigr => c _; rewrite mxE expr2.
Qed.

Lemma pair_witness :
  ~ (forall (D : 'rV[rat]_3) (U : 'M[rat]_(3, 2)) (x : 'cV[rat]_3), False).
Proof. by move=> /(_ 0 0 0). Qed.

Theorem residuals :
  forall (F : realFieldType) (d r : nat) (D : 'rV[F]_d) (U : 'M[F]_(d, r)) (z p : 'cV[F]_d)
    (y q : 'cV[F]_r),
  (forall a, 0 < D 0 a) -> p = diag_mx D *m z + U *m y -> q = y - U^T *m z ->
  (\sum_a D 0 a * z a 0 ^+ 2) + (\sum_c y c 0 ^+ 2)
  <= (\sum_a p a 0 ^+ 2 / D 0 a) + (\sum_c q c 0 ^+ 2).
Proof.
move=> F d r D U z p y q D0 pE qE.
have D'0 := reciprocal_gt0 D0.
have -> : \sum_a p a 0 ^+ 2 / D 0 a = (p^T *m diag_mx (reciprocal D) *m p) 0 0.
  by rewrite weighted_sum; apply: eq_bigr => a _; rewrite mxE mulrC.
rewrite -weighted_sum -!square_sum.
have DD' : diag_mx D *m diag_mx (reciprocal D) = 1%:M by apply: reciprocalK.
have D'D : diag_mx (reciprocal D) *m diag_mx D = 1%:M by apply: mulmx1C.
have pp : p^T *m diag_mx (reciprocal D) *m p
    = z^T *m diag_mx D *m z + z^T *m U *m y + y^T *m U^T *m z
      + (U *m y)^T *m diag_mx (reciprocal D) *m (U *m y).
  rewrite pE [(_ + _)^T]raddfD /= !trmx_mul tr_diag_mx !mulmxDl !mulmxDr !mulmxA.
  rewrite -(mulmxA z^T (diag_mx D) (diag_mx (reciprocal D))) DD' mulmx1.
  rewrite -(mulmxA (y^T *m U^T) (diag_mx (reciprocal D)) (diag_mx D)) D'D mulmx1.
  by rewrite !addrA.
have qq : q^T *m q = y^T *m y - y^T *m U^T *m z - z^T *m U *m y + (U^T *m z)^T *m (U^T *m z).
  rewrite qE [(_ - _)^T]raddfB /= !trmx_mul trmxK mulmxBl !mulmxBr !mulmxA opprB !addrA.
  by rewrite [RHS]addrAC.
have sums (V : zmodType) (a b c e f g : V) :
    a + b + c + e + (f - c - b + g) = a + f + (e + g).
  rewrite -[f - c - b]addrA -opprD -[a + b + c]addrA [b + c]addrC [a + _ + e]addrAC.
  by rewrite [f - _ + g]addrAC addrACA subrr addr0 addrACA.
have -> : (p^T *m diag_mx (reciprocal D) *m p) 0 0 + (q^T *m q) 0 0
    = (z^T *m diag_mx D *m z) 0 0 + (y^T *m y) 0 0
      + (((U *m y)^T *m diag_mx (reciprocal D) *m (U *m y)) 0 0
         + ((U^T *m z)^T *m (U^T *m z)) 0 0).
  have entry (A B : 'M[F]_1) : (A + B) 0 0 = A 0 0 + B 0 0 by rewrite mxE.
  by rewrite -!entry pp qq sums.
have more (a b : F) : 0 <= b -> a <= a + b by move=> ?; rewrite -subr_ge0 addrAC subrr add0r.
apply: more; rewrite addr_ge0 ?square_ge0 // weighted_sum.
by rewrite sumr_ge0 // => a _; rewrite mulr_ge0 ?sqr_ge0 // ltW.
Qed.

Lemma residuals_witness :
  ~ (forall (D : 'rV[rat]_3) (U : 'M[rat]_(3, 2)) (z p : 'cV[rat]_3) (y q : 'cV[rat]_2),
     (forall a, 0 < D 0 a) -> p = diag_mx D *m z + U *m y -> q = y - U^T *m z -> False).
Proof.
move=> /(_ (const_mx 1) 0 0 0 0 0); apply=> [a||]; first by rewrite mxE.
  by rewrite !mulmx0 addr0.
by rewrite mulmx0 subr0.
Qed.
