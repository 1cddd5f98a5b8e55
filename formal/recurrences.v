From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Lemma inner_product (F : fieldType) (m : nat) (x y : 'cV[F]_m) :
  x^T *m y = ((y^T *m x) 0 0)%:M.
Proof.
rewrite [LHS]mx11_scalar; congr _%:M; rewrite !mxE; apply: eq_bigr => a _.
by rewrite !mxE mulrC.
Qed.

Theorem handover :
  forall (F : fieldType) (m w : nat) (A : nat -> 'M[F]_m) (k : nat -> 'cV[F]_m)
    (v : nat -> 'rV[F]_w) (M : nat -> 'M[F]_(m, w)) (Gamma : nat -> 'M[F]_m)
    (C : nat -> nat -> 'cV[F]_m),
  (forall t, M t.+1 = A t *m M t + k t *m v t) ->
  Gamma 0%N = 1%:M -> (forall t, Gamma t.+1 = A t *m Gamma t) ->
  (forall j, C 0%N j = 0) ->
  (forall t j, C t.+1 j = A t *m C t j + (j == t)%:R *: k t) ->
  forall t,
  M t = Gamma t *m M 0%N + \sum_(j < t) C t j *m v j
  /\ forall q : 'cV[F]_m,
     (M t)^T *m q
     = (M 0%N)^T *m (Gamma t)^T *m q + \sum_(j < t) (q^T *m C t j) 0 0 *: (v j)^T.
Proof.
move=> F m w A k v M Gamma C ME Gamma0 GammaE C0 CE.
have late t j : (t <= j)%N -> C t j = 0.
  elim: t => [|t IH] lt; first exact: C0.
  by rewrite CE IH ?mulmx0 ?add0r ?(gtn_eqF lt) ?scale0r // ltnW.
have state t : M t = Gamma t *m M 0%N + \sum_(j < t) C t j *m v j.
  elim: t => [|t IH]; first by rewrite big_ord0 addr0 Gamma0 mul1mx.
  rewrite ME IH GammaE mulmxDr mulmxA mulmx_sumr big_ord_recr /= CE late // mulmx0 add0r.
  rewrite eqxx scale1r addrA; congr (_ + _ + _); apply: eq_bigr => j _.
  by rewrite CE (ltn_eqF (ltn_ord j)) scale0r addr0 mulmxA.
move=> t; split=> [|q]; first exact: state.
rewrite state linearD /= mulmxDl trmx_mul; congr (_ + _).
rewrite linear_sum mulmx_suml; apply: eq_bigr => j _ /=.
by rewrite trmx_mul -mulmxA [(C t j)^T *m q]inner_product mul_mx_scalar.
Qed.

Lemma handover_witness :
  ~ (forall (A : nat -> 'M[rat]_2) (k : nat -> 'cV[rat]_2) (v : nat -> 'rV[rat]_2)
       (M : nat -> 'M[rat]_2) (Gamma : nat -> 'M[rat]_2) (C : nat -> nat -> 'cV[rat]_2),
     (forall t, M t.+1 = A t *m M t + k t *m v t) ->
     Gamma 0%N = 1%:M -> (forall t, Gamma t.+1 = A t *m Gamma t) ->
     (forall j, C 0%N j = 0) ->
     (forall t j, C t.+1 j = A t *m C t j + (j == t)%:R *: k t) ->
     forall t : nat, (forall q : 'cV[rat]_2, False)).
Proof.
move=> /(_ (fun=> 1%:M) (fun=> 0) (fun=> 0) (fun=> 0) (fun=> 1%:M) (fun _ _ => 0)) no.
apply: (no _ _ _ _ _ 0%N 0) => // [t|t|t j]; first by rewrite !mulmx0 addr0.
  by rewrite mulmx1.
by rewrite mulmx0 scaler0 addr0.
Qed.

Theorem decays :
  forall (F : fieldType) (m w : nat) (g : nat -> 'rV[F]_m) (phi : nat -> 'cV[F]_m)
    (v : nat -> 'rV[F]_w) (M : nat -> 'M[F]_(m, w)) (gamma : nat -> 'rV[F]_m)
    (omega : nat -> nat -> 'rV[F]_m),
  (forall t, M t.+1 = diag_mx (g t) *m M t + phi t *m v t) ->
  gamma 0%N = const_mx 1 -> (forall t a, gamma t.+1 0 a = g t 0 a * gamma t 0 a) ->
  (forall t, omega t.+1 t = const_mx 1) ->
  (forall t j a, (j < t)%N -> omega t.+1 j 0 a = g t 0 a * omega t j 0 a) ->
  let score (q : 'cV[F]_m) t j := \sum_a q a 0 * omega t j 0 a * phi j a 0 in
  [/\ forall t,
        M t = diag_mx (gamma t) *m M 0%N + \sum_(j < t) diag_mx (omega t j) *m phi j *m v j,
      forall t (q : 'cV[F]_m),
        q^T *m M t = q^T *m diag_mx (gamma t) *m M 0%N + \sum_(j < t) score q t j *: v j,
      forall t r, g t = const_mx r ->
        forall (q : 'cV[F]_m) j, (j < t)%N -> score q t.+1 j = r * score q t j
    & forall t, g t = 0 -> M t.+1 = phi t *m v t].
Proof.
move=> F m w g phi v M gamma omega ME gamma0 gammaE omega1 omegaE score.
have diagM (a b c : 'rV[F]_m) : (forall i, c 0 i = a 0 i * b 0 i) ->
    diag_mx a *m diag_mx b = diag_mx c.
  by move=> cE; rewrite mulmx_diag; congr diag_mx; apply/rowP => i; rewrite mxE cE.
have one : diag_mx (const_mx 1 : 'rV[F]_m) = 1%:M by rewrite diag_const_mx.
have state t :
    M t = diag_mx (gamma t) *m M 0%N + \sum_(j < t) diag_mx (omega t j) *m phi j *m v j.
  elim: t => [|t IH]; first by rewrite big_ord0 addr0 gamma0 one mul1mx.
  rewrite ME IH mulmxDr mulmxA (diagM _ _ (gamma t.+1)) // mulmx_sumr big_ord_recr /=.
  rewrite omega1 one mul1mx addrA; congr (_ + _ + _); apply: eq_bigr => j _.
  by rewrite !mulmxA (diagM _ _ (omega t.+1 j)) // => a; rewrite omegaE.
split=> // [t q | t r gr q j lt | t g0].
- rewrite state mulmxDr mulmxA mulmx_sumr; congr (_ + _); apply: eq_bigr => j _.
  rewrite !mulmxA [q^T *m _ *m _]mx11_scalar mul_scalar_mx; congr (_ *: _).
  rewrite mxE; apply: eq_bigr => a _; rewrite mul_mx_diag !mxE.
  by [].
- rewrite mulr_sumr; apply: eq_bigr => a _; rewrite omegaE // gr mxE.
  by rewrite [q a 0 * _]mulrCA -!mulrA.
- by rewrite ME g0 linear0 mul0mx add0r.
Qed.

Lemma decays_witness :
  ~ (forall (g : nat -> 'rV[rat]_2) (phi : nat -> 'cV[rat]_2) (v : nat -> 'rV[rat]_2)
       (M : nat -> 'M[rat]_2) (gamma : nat -> 'rV[rat]_2) (omega : nat -> nat -> 'rV[rat]_2),
     (forall t, M t.+1 = diag_mx (g t) *m M t + phi t *m v t) ->
     gamma 0%N = const_mx 1 -> (forall t a, gamma t.+1 0 a = g t 0 a * gamma t 0 a) ->
     (forall t, omega t.+1 t = const_mx 1) ->
     (forall t j a, (j < t)%N -> omega t.+1 j 0 a = g t 0 a * omega t j 0 a) ->
     (forall t : nat, False)
     \/ ((forall (t : nat) (q : 'cV[rat]_2), False)
         \/ ((forall t r, g t.+2 = const_mx r ->
                forall (q : 'cV[rat]_2) j, (j.+2 < t.+2)%N -> False)
             \/ (forall t, g t.+2 = 0 -> False)))).
Proof.
move=> /(_ (fun=> 0) (fun=> 0) (fun=> 0) (fun=> 0) (fun t => const_mx (t == 0%N)%:R)
          (fun t j => const_mx (t == j.+1)%:R)) no.
case: no => [t|//|t a|t|t j a lt|/(_ 0%N) //|[/(_ 0%N 0) //|[/(_ 1%N 0 _ 0 0%N) no|/(_ 0%N)]]].
- by rewrite !mulmx0 addr0.
- by rewrite !mxE mul0r.
- by rewrite eqxx.
- by rewrite !mxE mul0r eqSS (gtn_eqF lt).
- by apply: no => //; apply/rowP => a; rewrite !mxE.
- exact.
Qed.

Theorem decays__linear :
  forall (F : fieldType) (m w : nat) (phi : nat -> 'cV[F]_m) (v : nat -> 'rV[F]_w)
    (M : nat -> 'M[F]_(m, w)) (z : nat -> 'cV[F]_m),
  (forall t, M t.+1 = diag_mx (const_mx 1) *m M t + phi t *m v t) ->
  (forall t, z t.+1 = diag_mx (const_mx 1) *m z t + phi t *m 1%:M) ->
  forall t,
  [/\ M t = M 0%N + \sum_(j < t) phi j *m v j, z t = z 0%N + \sum_(j < t) phi j
    & forall q : 'cV[F]_m,
        q^T *m M t = q^T *m M 0%N + \sum_(j < t) (q^T *m phi j) 0 0 *: v j].
Proof.
move=> F m w phi v M z ME zE t.
have sums p (N : nat -> 'M[F]_(m, p)) u :
    (forall s, N s.+1 = diag_mx (const_mx 1) *m N s + phi s *m u s) ->
    N t = N 0%N + \sum_(j < t) phi j *m u j.
  move=> NE; elim: t => [|t IH]; first by rewrite big_ord0 addr0.
  by rewrite NE diag_const_mx mul1mx IH big_ord_recr addrA.
split=> [||q]; first exact: sums.
  by rewrite (sums _ _ _ zE); congr (_ + _); apply: eq_bigr => j _; rewrite mulmx1.
rewrite (sums _ _ _ ME) mulmxDr mulmx_sumr; congr (_ + _); apply: eq_bigr => j _.
by rewrite mulmxA [q^T *m phi j]mx11_scalar mul_scalar_mx !mxE eqxx mulr1n.
Qed.

Lemma decays__linear_witness :
  ~ (forall (phi : nat -> 'cV[rat]_2) (v : nat -> 'rV[rat]_2) (M : nat -> 'M[rat]_2)
       (z : nat -> 'cV[rat]_2),
     (forall t, M t.+1 = diag_mx (const_mx 1) *m M t + phi t *m v t) ->
     (forall t, z t.+1 = diag_mx (const_mx 1) *m z t + phi t *m 1%:M) ->
     forall (t : nat) (q : 'cV[rat]_2), False).
Proof.
move=> /(_ (fun=> 0) (fun=> 0) (fun=> 0) (fun=> 0)) no.
by apply: (no _ _ 0%N 0) => t; rewrite !(mulmx0, mul0mx) addr0.
Qed.

Theorem delta_rule :
  forall (F : fieldType) (m w : nat) (M M' : 'M[F]_(m, w)) (beta : F) (k : 'cV[F]_m)
    (v : 'cV[F]_w),
  M' = M + beta *: (k *m (v - M^T *m k)^T) ->
  [/\ M' = (1%:M - beta *: (k *m k^T)) *m M + beta *: (k *m v^T),
      v - M'^T *m k = (1 - beta * (k^T *m k) 0 0) *: (v - M^T *m k)
    & forall k' : 'cV[F]_m,
        M'^T *m k' = M^T *m k' + (beta * (k^T *m k') 0 0) *: (v - M^T *m k)].
Proof.
move=> F m w M M' beta k v ->.
have reads k' : (M + beta *: (k *m (v - M^T *m k)^T))^T *m k'
    = M^T *m k' + (beta * (k^T *m k') 0 0) *: (v - M^T *m k).
  rewrite linearD linearZ /= trmx_mul trmxK mulmxDl -scalemxAl -mulmxA -scalerA.
  set c := (k^T *m k') 0 0; have -> : k^T *m k' = c%:M by exact: mx11_scalar.
  by rewrite mul_mx_scalar.
split=> //.
  rewrite mulmxBl mul1mx -addrA -scalemxAl -scalerN -scalerDr; congr (_ + _ *: _).
  by rewrite [(v - _)^T]linearB /= trmx_mul trmxK mulmxBr mulmxA [LHS]addrC.
by rewrite reads opprD addrA scalerBl scale1r.
Qed.

Lemma delta_rule_witness :
  ~ (forall (M M' : 'M[rat]_2) (beta : rat) (k : 'cV[rat]_2) (v : 'cV[rat]_2),
     M' = M + beta *: (k *m (v - M^T *m k)^T) -> forall k' : 'cV[rat]_2, False).
Proof. by move=> /(_ 0 0 0 0 0); rewrite scale0r addr0 => /(_ erefl 0). Qed.

Theorem overwriting :
  forall (F : fieldType) (m w : nat) (M M' : 'M[F]_(m, w)) (beta : F) (k : 'cV[F]_m)
    (v : 'cV[F]_w),
  M' = M + beta *: (k *m (v - M^T *m k)^T) ->
  [/\ beta * (k^T *m k) 0 0 = 1 -> M'^T *m k = v,
      forall t : 'rV[F]_w, (t *m (v - M^T *m k)) 0 0 = 1 ->
        (t *m (M'^T *m k - v)) 0 0 = 0 <-> beta * (k^T *m k) 0 0 = 1
    & M^T *m k <> v -> (M'^T *m k = v <-> beta * (k^T *m k) 0 0 = 1)].
Proof.
move=> F m w M M' beta k v rule; have [_ left_ _] := delta_rule rule.
have overwrites : beta * (k^T *m k) 0 0 = 1 -> M'^T *m k = v.
  by move=> b1; apply/eqP; rewrite eq_sym -subr_eq0 left_ b1 subrr scale0r.
split=> // [t one | wrong].
  have entry s (X : 'M[F]_1) : (- (s *: X)) 0 0 = - (s * X 0 0) by rewrite !mxE.
  rewrite -opprB left_ mulmxN -scalemxAr entry one mulr1 opprB; split=> [/eqP|->].
    by rewrite subr_eq0 => /eqP.
  by rewrite subrr.
split=> // right; move: left_; rewrite right subrr => /esym/eqP; rewrite scaler_eq0.
by rewrite !subr_eq0 => /orP[/eqP -> //|/eqP vE]; case: wrong.
Qed.

Lemma overwriting_witness :
  ~ (forall (M M' : 'M[rat]_2) (beta : rat) (k : 'cV[rat]_2) (v : 'cV[rat]_2),
     M' = M + beta *: (k *m (v - M^T *m k)^T) ->
     (beta * (k^T *m k) 0 0 = 1 -> False)
     \/ ((forall t : 'rV[rat]_2, (t *m (v - M^T *m k)) 0 0 = 1 -> False)
         \/ (M^T *m k <> v -> False))).
Proof.
pose e := delta_mx 0 0 : 'cV[rat]_2.
have ee : (e^T *m e) 0 0 = 1.
  by rewrite mxE sum2 !mxE /= mulr0 addr0 mulr1.
move=> /(_ 0 _ 1 e e erefl) [|[/(_ e^T)|]].
- by rewrite mul1r ee; apply.
- by rewrite trmx0 mul0mx subr0 ee; apply.
- by rewrite trmx0 mul0mx; apply=> /colP /(_ 0); rewrite !mxE.
Qed.
