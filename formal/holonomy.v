From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem fundamental_cycles :
  forall (F : fieldType) (n d : nat) (E B : rel 'I_n) (T : 'I_n -> 'I_n -> 'M[F]_d)
    (g : 'I_n -> 'M[F]_d),
  (forall i, g i \in unitmx) -> (forall i j, B i j -> T i j *m g j = g i) ->
  let h i j := invmx (g i) *m T i j *m g j in
  [/\ forall i j, B i j -> h i j = 1%:M,
      forall i j, T i j *m T j i = 1%:M -> h i j *m h j i = 1%:M,
      (forall i j, E i j -> T i j = g i *m invmx (g j)) <-> (forall i j, E i j -> h i j = 1%:M)
    & (forall i j, E i j -> h i j = 1%:M) -> forall i j, E i j -> T i j *m g j = g i].
Proof.
move=> F n d E B T g gU tree h.
have back i j : h i j = 1%:M -> T i j *m g j = g i.
  move=> hij; rewrite -[LHS](mulKVmx (gU i)) [invmx (g i) *m (_ *m _)]mulmxA.
  by rewrite -/(h i j) hij mulmx1.
split=> [i j Bij | i j inv | | flat i j Eij]; last exact: back (flat i j Eij).
- by rewrite /h -mulmxA tree // mulVmx.
- rewrite /h -!mulmxA (mulmxA (g j)) mulmxV // mul1mx (mulmxA (T i j)) inv mul1mx.
  by rewrite mulVmx.
- split=> [flat i j Eij | flat i j Eij].
    by rewrite /h flat // !mulmxA mulVmx // mul1mx mulVmx.
  by rewrite -(back _ _ (flat i j Eij)) mulmxK.
Qed.

Lemma fundamental_cycles_witness :
  ~ (forall (E B : rel 'I_3) (T : 'I_3 -> 'I_3 -> 'M[rat]_2) (g : 'I_3 -> 'M[rat]_2),
     (forall i, g i \in unitmx) -> (forall i j, B i j -> T i j *m g j = g i) ->
     (forall i j, B i j -> False)
     \/ ((forall i j, T i j *m T j i = 1%:M -> False)
         \/ ((forall i j, E i j -> invmx (g i) *m T i j *m g j = 1%:M) ->
             forall i j, E i j -> False))).
Proof.
move=> /(_ (fun _ _ => true) (fun _ _ => true) (fun _ _ => 1%:M) (fun=> 1%:M)) no.
case: no => [i | i j _ | /(_ 0 0 isT) // | [/(_ 0 0) no | no]].
- exact: unitmx1.
- by rewrite mulmx1.
- by apply: no; rewrite mulmx1.
- by apply: (no _ 0 0) => // i j _; rewrite !mulmx1 invmx1.
Qed.

Theorem closed_walks :
  forall (F : fieldType) (n d c : nat) (T : 'I_n -> 'I_n -> 'M[F]_d) (u : 'I_n -> 'M[F]_(d, c))
    (i : 'I_n) (s : seq 'I_n),
  all (fun e => u e.1 == T e.1 e.2 *m u e.2) (zip (i :: s) s) ->
  let h := \big[mulmx/1%:M]_(e <- zip (i :: s) s) T e.1 e.2 in
  [/\ u i = h *m u (last i s), last i s = i -> u i = h *m u i
    & last i s = i -> forall R : 'M[F]_(c, d), u i *m R = 1%:M -> h = 1%:M].
Proof.
move=> F n d c T u i s kept h.
have carries : u i = h *m u (last i s).
  rewrite /h; elim: s i kept {h} => [|j s IH] i /=; first by rewrite big_nil mul1mx.
  by move=> /andP[/eqP uij /IH uj]; rewrite big_cons /= -mulmxA -uj.
split=> // [same | same R inv]; first by rewrite {1}carries same.
by rewrite -[h]mulmx1 -inv mulmxA -{1}same -carries inv.
Qed.

Lemma closed_walks_witness :
  ~ (forall (T : 'I_3 -> 'I_3 -> 'M[rat]_2) (u : 'I_3 -> 'M[rat]_2) (i : 'I_3) (s : seq 'I_3),
     all (fun e => u e.1 == T e.1 e.2 *m u e.2) (zip (i :: s) s) ->
     (last i s = i -> False)
     \/ (last i s = i -> forall R : 'M[rat]_2, u i *m R = 1%:M -> False)).
Proof.
move=> /(_ (fun _ _ => 1%:M) (fun=> 1%:M) 0 [:: 1; 0]) no.
case: no => [|/(_ erefl) //|/(_ erefl 1%:M)]; first by rewrite /= !mulmx1 !eqxx.
by apply; rewrite mulmx1.
Qed.

Theorem complete_graph :
  forall (F : fieldType) (n d : nat) (T : 'I_n -> 'I_n -> 'M[F]_d) (o i j : 'I_n),
  T i j *m T j i = 1%:M -> T i o *m T o j *m T j i = 1%:M -> T i j = T i o *m T o j.
Proof.
move=> F n d T o i j inv flat.
by rewrite -[LHS]mul1mx -flat -[LHS]mulmxA (mulmx1C inv) mulmx1.
Qed.

Lemma complete_graph_witness :
  ~ (forall (T : 'I_3 -> 'I_3 -> 'M[rat]_2) (o i j : 'I_3),
     T i j *m T j i = 1%:M -> T i o *m T o j *m T j i = 1%:M -> False).
Proof.
by move=> /(_ (fun _ _ => 1%:M) 0 1 0) no; apply: no; rewrite !mulmx1.
Qed.

Lemma sum_blocks (F : fieldType) (n d : nat) (f : 'I_(n * d) -> F) :
  \sum_k f k = \sum_i \sum_a f (mxvec_index i a).
Proof.
rewrite (reindex _ (curry_mxvec_bij n d)) /=.
rewrite (eq_bigr (fun p : 'I_n * 'I_d => f (mxvec_index p.1 p.2))); last by case.
by rewrite -(pair_bigA _ (fun i a => f (mxvec_index i a))).
Qed.

Theorem spectrum :
  forall (F : fieldType) (n d : nat) (P : 'M[F]_n) (T : 'I_n -> 'I_n -> 'M[F]_d)
    (g : 'I_n -> 'M[F]_d) (W : 'M[F]_(n * d)),
  (forall i, g i \in unitmx) -> (forall i j, P i j != 0 -> T i j = g i *m invmx (g j)) ->
  (forall i a j b, W (mxvec_index i a) (mxvec_index j b) = P i j * T i j a b) ->
  (forall l : nat,
     (forall i a j b, iter l (mulmx W) 1%:M (mxvec_index i a) (mxvec_index j b)
                      = iter l (mulmx P) 1%:M i j * (g i *m invmx (g j)) a b)
     /\ \tr (iter l (mulmx W) 1%:M) = d%:R * \tr (iter l (mulmx P) 1%:M))
  /\ (forall (v : 'cV[F]_n) (lam : F) (x : 'cV[F]_d), P *m v = lam *: v ->
        forall i, \sum_j P i j *: (T i j *m (v j 0 *: (g j *m x)))
                  = lam *: (v i 0 *: (g i *m x))).
Proof.
move=> F n d P T g W gU flat WE.
have PT i j : P i j *: T i j = P i j *: (g i *m invmx (g j)).
  by have [->|/flat ->//] := eqVneq (P i j) 0; rewrite !scale0r.
have unit_entry (i j : 'I_n) (a b : 'I_d) : 1%:M (mxvec_index i a) (mxvec_index j b)
    = ((i == j) && (a == b))%:R :> F.
  have := mxvecE (delta_mx j b : 'M[F]_(n, d)) i a.
  by rewrite mxvec_delta !mxE eqxx.
have blocks l i a j b : iter l (mulmx W) 1%:M (mxvec_index i a) (mxvec_index j b)
    = iter l (mulmx P) 1%:M i j * (g i *m invmx (g j)) a b.
  elim: l i a j b => [|l IH] i a j b /=.
    rewrite unit_entry [X in _ = X * _]mxE; have [<-|ne] := eqVneq i j; last by rewrite mul0r.
    by rewrite mul1r mulmxV // mxE.
  rewrite mxE sum_blocks [X in _ = X * _]mxE mulr_suml; apply: eq_bigr => k _.
  have -> : g i *m invmx (g j) = (g i *m invmx (g k)) *m (g k *m invmx (g j)).
    by rewrite !mulmxA (mulmxKV (gU k)).
  rewrite [X in _ = _ * X]mxE mulr_sumr; apply: eq_bigr => c _.
  have PTac : P i k * T i k a c = P i k * (g i *m invmx (g k)) a c.
    by have /matrixP /(_ a c) := PT i k; rewrite mxE [RHS]mxE.
  by rewrite WE IH PTac mulrACA.
split=> [l | v lam x eigen i]; first split=> //.
  rewrite /mxtrace sum_blocks mulr_sumr; apply: eq_bigr => i _.
  under eq_bigr => a _ do rewrite blocks mulmxV // mxE eqxx mulr1.
  by rewrite sumr_const card_ord mulr_natl.
have -> : lam *: (v i 0 *: (g i *m x)) = (P *m v) i 0 *: (g i *m x).
  by rewrite eigen scalerA [in RHS]mxE.
rewrite mxE scaler_suml; apply: eq_bigr => j _.
by rewrite scalemxAl PT -scalemxAl -scalemxAr scalerA mulmxA (mulmxKV (gU j)).
Qed.

Lemma spectrum_witness :
  ~ (forall (P : 'M[rat]_3) (T : 'I_3 -> 'I_3 -> 'M[rat]_2) (g : 'I_3 -> 'M[rat]_2)
       (W : 'M[rat]_(3 * 2)),
     (forall i, g i \in unitmx) -> (forall i j, P i j != 0 -> T i j = g i *m invmx (g j)) ->
     (forall i a j b, W (mxvec_index i a) (mxvec_index j b) = P i j * T i j a b) ->
     (forall l : nat,
        (forall (i : 'I_3) (a : 'I_2) (j : 'I_3) (b : 'I_2), False))
     \/ (forall (v : 'cV[rat]_3) (lam : rat) (x : 'cV[rat]_2), P *m v = lam *: v ->
           forall i : 'I_3, False)).
Proof.
move=> /(_ 0 (fun _ _ => 1%:M) (fun=> 1%:M) 0) no.
case: no => [i|i j _|i a j b|/(_ 0%N 0 0 0 0)//|/(_ 0 0 0) no].
- exact: unitmx1.
- by rewrite invmx1 mulmx1.
- by rewrite !mxE mul0r.
- by apply: (no _ 0); rewrite mul0mx scaler0.
Qed.

Theorem constant_transport :
  forall (F : fieldType) (n d : nat) (T : 'M[F]_d.+1),
  [/\ forall (i : 'I_n) (s : seq 'I_n),
        \big[mulmx/1%:M]_(e <- zip (i :: s) s) T = T ^+ size s,
      forall p q : nat, (q <= p)%N -> T ^+ p = 1 -> T ^+ q = 1 -> T ^+ (p - q) = 1
    & forall k l : nat, T ^+ k = 1 -> T ^+ (k * l) = 1].
Proof.
move=> F n d T; split=> [i s | p q le Tp Tq | k l Tk].
- elim: s i => [|j s IH] i /=; first by rewrite big_nil.
  by rewrite big_cons /= IH exprS.
- by rewrite -[LHS]mulr1 -{1}Tq -exprD subnK.
- by rewrite exprM Tk expr1n.
Qed.

Lemma constant_transport_witness :
  ~ (forall T : 'M[rat]_3, (forall (i : 'I_2) (s : seq 'I_2), False)
     \/ ((forall p q : nat, (q.+2 <= p.+2)%N -> T ^+ p.+2 = 1 -> T ^+ q.+2 = 1 -> False)
         \/ (forall k l : nat, T ^+ k.+2 = 1 -> False))).
Proof.
move=> /(_ 1) [/(_ 0 [::]) // | [/(_ 0%N 0%N isT) no | /(_ 0%N 0%N) no]].
  by apply: no; rewrite expr1n.
by apply: no; rewrite expr1n.
Qed.
