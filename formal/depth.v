From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem two_layers :
  forall (F : fieldType) (H n d : nat) (A1 A2 : 'I_H -> 'M[F]_n) (T1 T2 : 'I_H -> 'M[F]_d)
    (x : 'I_n -> 'cV[F]_d) (i : 'I_n),
  \sum_h \sum_k A2 h i k *: (T2 h *m (\sum_g \sum_j A1 g k j *: (T1 g *m x j)))
  = \sum_j (\sum_h \sum_g \sum_k (A2 h i k * A1 g k j) *: (T2 h *m T1 g)) *m x j.
Proof.
move=> F H n d A1 A2 T1 T2 x i.
transitivity (\sum_h \sum_g \sum_k \sum_j
                (A2 h i k * A1 g k j) *: (T2 h *m T1 g *m x j)).
  apply: eq_bigr => h _; rewrite exchange_big; apply: eq_bigr => k _ /=.
  rewrite mulmx_sumr scaler_sumr; apply: eq_bigr => g _.
  rewrite mulmx_sumr scaler_sumr; apply: eq_bigr => j _.
  by rewrite -scalemxAr scalerA mulmxA.
under [RHS]eq_bigr => j _ do rewrite mulmx_suml.
rewrite [RHS]exchange_big; apply: eq_bigr => h _ /=.
under [RHS]eq_bigr => j _ do rewrite mulmx_suml.
rewrite [RHS]exchange_big; apply: eq_bigr => g _ /=.
under [RHS]eq_bigr => j _ do rewrite mulmx_suml.
rewrite [RHS]exchange_big; apply: eq_bigr => k _ /=.
by apply: eq_bigr => j _; rewrite scalemxAl.
Qed.

Lemma two_layers_witness :
  ~ (forall (A1 A2 : 'I_2 -> 'M[rat]_3) (T1 T2 : 'I_2 -> 'M[rat]_2) (x : 'I_3 -> 'cV[rat]_2)
       (i : 'I_3), False).
Proof. by move=> /(_ (fun=> 0) (fun=> 0) (fun=> 0) (fun=> 0) (fun=> 0) 0). Qed.

Lemma sum_cons (V : zmodType) (X : finType) (L : nat) (G : L.+1.-tuple X -> V) :
  \sum_w G w = \sum_a \sum_(w : L.-tuple X) G [tuple of a :: w].
Proof.
rewrite pair_bigA /=.
rewrite (reindex (fun p : X * L.-tuple X => [tuple of p.1 :: p.2])) //=.
exists (fun w : L.+1.-tuple X => (thead w, [tuple of behead w])) => [[a w] _ | w _] /=.
  by congr (_, _); apply: val_inj.
by rewrite [RHS]tuple_eta.
Qed.

Theorem paths :
  forall (F : fieldType) (H n d : nat) (A : nat -> 'I_H -> 'M[F]_n) (T : nat -> 'I_H -> 'M[F]_d)
    (x : 'I_n -> 'cV[F]_d) (L : nat) (i : 'I_n),
  iteri L (fun l y k => \sum_h \sum_j A l h k j *: (T l h *m y j)) x i
  = \sum_(w : L.-tuple ('I_H * 'I_n))
      (\prod_(k < L) A (L - k.+1)%N (tnth w k).1 (nth i (i :: map snd w) k) (tnth w k).2)
      *: ((\big[mulmx/1%:M]_(k < L) T (L - k.+1)%N (tnth w k).1) *m x (last i (map snd w))).
Proof.
move=> F H n d A T x; elim=> [|L IH] i.
  rewrite (big_pred1 [tuple]) => [|w]; first by rewrite !big_ord0 scale1r mul1mx.
  by apply/esym/eqP; apply: tuple0.
rewrite sum_cons /= pair_bigA /=; apply: eq_bigr => -[h j] _ /=.
rewrite IH mulmx_sumr scaler_sumr; apply: eq_bigr => w _.
rewrite !big_ord_recl /= subSS subn0 -scalemxAr scalerA -!mulmxA.
have letter (k : 'I_L) : tnth [tuple of (h, j) :: w] (lift ord0 k) = tnth w k.
  by rewrite !(tnth_nth (h, j)).
have node (k : 'I_L) : nth j (j :: map snd w) k = nth i (j :: map snd w) k.
  by apply: set_nth_default; rewrite /= size_map size_tuple ltnS ltnW.
under [\prod_(k < L) A _ _ (nth j _ _) _]eq_bigr => k _ do rewrite node.
under [in RHS]eq_bigr => k _ do rewrite letter.
under [X in _ = _ *: (_ *m (X *m _))]eq_bigr => k _ do rewrite letter.
by [].
Qed.

Lemma paths_witness :
  ~ (forall (A : nat -> 'I_2 -> 'M[rat]_3) (T : nat -> 'I_2 -> 'M[rat]_2)
       (x : 'I_3 -> 'cV[rat]_2) (L : nat) (i : 'I_3), False).
Proof. by move=> /(_ (fun _ _ => 0) (fun _ _ => 0) (fun=> 0) 0%N 0). Qed.
