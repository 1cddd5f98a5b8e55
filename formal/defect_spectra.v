From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums inner_products.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem imaginary :
  forall (F : realFieldType) (n : nat) (A : 'M[F]_n) (p q : 'cV[F]_n) (alpha beta kappa : F),
  A *m p = alpha *: p - beta *: q -> A *m q = alpha *: q + beta *: p ->
  (p^T *m p) 0 0 + (q^T *m q) 0 0 = 1 ->
  (((A - A^T) *m q)^T *m ((A - A^T) *m q)) 0 0 <= kappa ^+ 2 * (q^T *m q) 0 0 ->
  4%:R * beta ^+ 2 <= kappa ^+ 2.
Proof.
move=> F n A p q alpha beta kappa Ap Aq one bound.
have pairing : (p^T *m ((A - A^T) *m q)) 0 0 = beta.
  rewrite mulmxBl mulmxBr entryB Aq [p^T *m (A^T *m q)]mulmxA -trmx_mul Ap.
  rewrite trB !trZ mulmxDr mulmxBl -!scalemxAr -!scalemxAl entryD entryB !entryZ.
  by rewrite opprB addrC addrA subrK -mulrDr addrC one mulr1.
have ge0 := norm2_ge0 p; have qq0 := norm2_ge0 q.
have cs := inner_products.cauchy_schwarz p ((A - A^T) *m q).
rewrite pairing in cs; move: ge0 qq0 one cs bound.
move: ((p^T *m p) 0 0) ((q^T *m q) 0 0) ((_^T *m _) 0 0) => s t N s0 t0 one cs bound.
have step : beta ^+ 2 <= s * (kappa ^+ 2 * t).
  by apply: le_trans cs _; rewrite -subr_ge0 -mulrBr mulr_ge0 ?subr_ge0.
have quarter : 4%:R * (s * t) <= 1.
  rewrite -subr_ge0; have -> : 1 - 4%:R * (s * t) = (s - t) ^+ 2; last exact: sqr_ge0.
  transitivity ((s + t) ^+ 2 - 4%:R * (s * t)); first by rewrite one expr1n.
  have four b : b *+ 4 = b *+ 2 + b *+ 2 :> F by rewrite -mulrnDr.
  rewrite sqrrD sqrrB mulr_natl four opprD [s ^+ 2 + _ + _]addrAC addrA addrK.
  by rewrite addrAC.
apply: (@le_trans _ _ (4%:R * (s * (kappa ^+ 2 * t)))).
  by rewrite -subr_ge0 -mulrBr mulr_ge0 ?subr_ge0 ?ler0n.
have -> : 4%:R * (s * (kappa ^+ 2 * t)) = kappa ^+ 2 * (4%:R * (s * t)).
  by rewrite [s * _]mulrCA [LHS]mulrCA.
rewrite -subr_ge0 -[X in X - _]mulr1 -mulrBr.
by rewrite mulr_ge0 ?subr_ge0 // sqr_ge0.
Qed.

Lemma imaginary_witness :
  ~ (forall (A : 'M[rat]_2) (p q : 'cV[rat]_2) (alpha beta kappa : rat),
     A *m p = alpha *: p - beta *: q -> A *m q = alpha *: q + beta *: p ->
     (p^T *m p) 0 0 + (q^T *m q) 0 0 = 1 ->
     (((A - A^T) *m q)^T *m ((A - A^T) *m q)) 0 0 <= kappa ^+ 2 * (q^T *m q) 0 0 -> False).
Proof.
move=> /(_ 1%:M (delta_mx 0 0) 0 1 0 0); apply=> //.
- by rewrite mul1mx scale1r scale0r subr0.
- by rewrite mulmx0 scaler0 scale0r addr0.
- by rewrite mulmx0 !dotE sum2 !mxE.
- by rewrite !mulmx0 mxE mulr0.
Qed.

Theorem real :
  forall (F : realFieldType) (n : nat) (A : 'M[F]_n) (p q : 'cV[F]_n) (alpha beta nu mu : F),
  A *m p = alpha *: p - beta *: q -> A *m q = alpha *: q + beta *: p ->
  (p^T *m p) 0 0 + (q^T *m q) 0 0 = 1 ->
  (forall v, v = p \/ v = q ->
     nu * (v^T *m v) 0 0 <= (v^T *m (A *m v)) 0 0 <= mu * (v^T *m v) 0 0) ->
  nu <= alpha <= mu.
Proof.
move=> F n A p q alpha beta nu mu Ap Aq one bound.
have mean : (p^T *m (A *m p)) 0 0 + (q^T *m (A *m q)) 0 0 = alpha.
  rewrite Ap Aq mulmxBr mulmxDr -!scalemxAr entryB entryD !entryZ [(q^T *m p) 0 0]dotC.
  by rewrite addrCA subrK -mulrDr addrC one mulr1.
have /andP[lp up] := bound p (or_introl erefl); have /andP[lq uq] := bound q (or_intror erefl).
rewrite -mean -[nu]mulr1 -[mu]mulr1 -one !mulrDr; apply/andP; split.
  by rewrite -subr_ge0 opprD addrACA addr_ge0 ?subr_ge0.
by rewrite -subr_ge0 opprD addrACA addr_ge0 ?subr_ge0.
Qed.

Lemma real_witness :
  ~ (forall (A : 'M[rat]_2) (p q : 'cV[rat]_2) (alpha beta nu mu : rat),
     A *m p = alpha *: p - beta *: q -> A *m q = alpha *: q + beta *: p ->
     (p^T *m p) 0 0 + (q^T *m q) 0 0 = 1 ->
     (forall v, v = p \/ v = q ->
        nu * (v^T *m v) 0 0 <= (v^T *m (A *m v)) 0 0 <= mu * (v^T *m v) 0 0) -> False).
Proof.
move=> /(_ 1%:M (delta_mx 0 0) 0 1 0 1 1); apply=> //.
- by rewrite mul1mx scale1r scale0r subr0.
- by rewrite mulmx0 scaler0 scale0r addr0.
- by rewrite mulmx0 !dotE sum2 !mxE.
- by move=> v _; rewrite mul1mx mul1r lexx.
Qed.
