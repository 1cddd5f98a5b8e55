From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums inner_products.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem involution :
  forall (F : realFieldType) (n d : nat) (P : 'M[F]_n.+1), (forall i, \sum_j P i j = 1) ->
  [/\ forall X Y : 'M[F]_d, (forall i j, P i j *: X = P i j *: Y) <-> X = Y,
      forall T : 'M[F]_d,
        (forall i j, P i j != 0 -> T *m T = 1%:M) <-> T *m T = 1%:M,
      forall T G : 'M[F]_d,
        (forall i j, P i j != 0 -> T *m T = 1%:M /\ T^T *m G *m T = G)
        <-> T *m T = 1%:M /\ T^T *m G *m T = G
    & forall T : 'M[F]_d, T *m T = 1%:M ->
        let G := 1%:M + T^T *m T in
        T^T *m G *m T = G
        /\ forall u : 'cV[F]_d, (u^T *m u) 0 0 <= (u^T *m G *m u) 0 0].
Proof.
move=> F n d P P1.
have edge : exists i j, P i j != 0.
  have [/existsP some|] := boolP [exists j, P 0 j != 0]; first by exists 0.
  rewrite negb_exists => /forallP none.
  have /eqP := P1 0; rewrite big1 ?[0 == 1]eq_sym ?oner_eq0 // => j _.
  by apply/eqP; have := none j; rewrite negbK.
split=> [X Y | T | T G | T T2 G].
- split=> [same | -> //]; have [i [j Pij]] := edge; exact: (scalerI Pij (same i j)).
- by split=> [inv | //]; have [i [j Pij]] := edge; exact: inv Pij.
- by split=> [inv | //]; have [i [j Pij]] := edge; exact: inv Pij.
- split=> [|u].
    rewrite /G mulmxDr mulmx1 mulmxDl -!mulmxA T2 mulmx1 -trmx_mul T2 trmx1.
    by rewrite addrC.
  rewrite /G mulmxDr mulmx1 mulmxDl entryD -subr_ge0 addrAC subrr add0r.
  by rewrite !mulmxA -trmx_mul -mulmxA norm2_ge0.
Qed.

Lemma involution_witness :
  ~ (forall P : 'M[rat]_3, (forall i, \sum_j P i j = 1) ->
     (forall X Y : 'M[rat]_2, False)
     \/ ((forall T : 'M[rat]_2, False)
         \/ ((forall T G : 'M[rat]_2, False)
             \/ (forall T : 'M[rat]_2, T *m T = 1%:M ->
                   forall u : 'cV[rat]_2, False)))).
Proof.
move=> /(_ (const_mx 3%:R^-1)) no.
case: no => [i|/(_ 0 0)//|[/(_ 0)//|[/(_ 0 0)//|/(_ 1%:M) no]]].
  by rewrite sum3 !mxE.
by apply: no 0; rewrite mulmx1.
Qed.

Theorem orthogonal :
  forall (F : fieldType) (d : nat) (T : 'M[F]_d),
  (T *m T = 1%:M /\ T^T *m T = 1%:M) <-> (T = T^T /\ T *m T = 1%:M).
Proof.
move=> F d T; split=> [[T2 TT] | [TT T2]]; last by rewrite -TT.
split=> //; have [TU _] := mulmx1_unit T2.
by rewrite -[T^T]mulmx1 -T2 mulmxA TT mul1mx.
Qed.

Lemma orthogonal_witness : ~ (forall T : 'M[rat]_2, False).
Proof. by move=> /(_ 0). Qed.
