From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import powers.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Exponential.
Variables (F : numFieldType) (A : pred F) (e : F -> F).
Hypotheses (AB : forall x y, A x -> A y -> A (x - y)).
Hypotheses (e_gt0 : forall x, A x -> 0 < e x).
Hypotheses (eD : forall x y, A x -> A y -> e (x + y) = e x * e y).
Hypotheses (e_inj : forall x y, A x -> A y -> e x = e y -> x = y).

Lemma softmax_shift n m (P L S : 'M[F]_(n, m)) :
  (forall i j, A (L i j)) -> (forall i j, A (S i j)) ->
  (forall i j, e (L i j) = P i j) -> (forall i, \sum_j P i j = 1) ->
  (forall i j, e (S i j) / (\sum_k e (S i k)) = P i j)
  <-> exists u : 'I_n -> F, forall i j, S i j = L i j + u i.
Proof.
move=> AL AS eL P1.
have m_gt0 (i : 'I_n) : 'I_m.
  case: m P L S AL AS eL P1 => [P L S _ _ _ /(_ i)|m' *]; last exact: ord0.
  by rewrite big_ord0 => /eqP; rewrite eq_sym oner_eq0.
have Z_gt0 i : 0 < \sum_k e (S i k).
  rewrite (bigD1 (m_gt0 i)) //=; apply: lt_le_trans (e_gt0 (AS i (m_gt0 i))) _.
  by rewrite -subr_ge0 addrAC subrr add0r sumr_ge0 // => k _; rewrite ltW ?e_gt0.
split=> [soft | [u shift] i j].
  exists (fun i => S i (m_gt0 i) - L i (m_gt0 i)) => i j.
  have ratio k : e (S i k - L i k) = \sum_l e (S i l).
    have eq : e (S i k) = e (S i k - L i k) * e (L i k) by rewrite -eD ?subrK ?AB.
    apply: (mulIf (lt0r_neq0 (e_gt0 (AL i k)))).
    by rewrite -eq eL -soft mulrC divfK ?lt0r_neq0.
  apply: (addIr (- L i j)); rewrite [L i j + _]addrC addrK.
  by apply: e_inj; rewrite ?AB ?ratio.
have Au : A (u i) by rewrite (_ : u i = S i j - L i j) ?AB // shift [L i j + _]addrC addrK.
have eS k : e (S i k) = e (u i) * P i k by rewrite shift addrC eD ?eL.
under eq_bigr => k _ do rewrite eS.
by rewrite eS -big_distrr /= P1 mulr1 mulrAC divff ?mul1r // lt0r_neq0 ?e_gt0.
Qed.

End Exponential.

Theorem logits_of_a_walk :
  forall (F : numFieldType) (n m : nat) (A : pred F) (e : F -> F) (P L S : 'M[F]_(n, m)),
  (forall x y, A x -> A y -> A (x - y)) -> (forall x, A x -> 0 < e x) ->
  (forall x y, A x -> A y -> e (x + y) = e x * e y) ->
  (forall x y, A x -> A y -> e x = e y -> x = y) ->
  (forall i j, A (L i j)) -> (forall i j, A (S i j)) ->
  (forall i j, e (L i j) = P i j) -> (forall i, \sum_j P i j = 1) ->
  (forall i j, e (S i j) / (\sum_k e (S i k)) = P i j)
  <-> exists u : 'I_n -> F, forall i j, S i j = L i j + u i.
Proof. by move=> F n m A e P L S AB e0 eD inj *; apply: (@softmax_shift F A e). Qed.

Lemma logits_of_a_walk_witness :
  ~ (forall (A : pred rat) (e : rat -> rat) (P L S : 'M[rat]_(2, 3)),
     (forall x y, A x -> A y -> A (x - y)) -> (forall x, A x -> 0 < e x) ->
     (forall x y, A x -> A y -> e (x + y) = e x * e y) ->
     (forall x y, A x -> A y -> e x = e y -> x = y) ->
     (forall i j, A (L i j)) -> (forall i j, A (S i j)) ->
     (forall i j, e (L i j) = P i j) -> (forall i, \sum_j P i j = 1) -> False).
Proof.
pose L := \matrix_(i < 2, j < 3) (if j == 0 then - 1%:R else - 2%:R) : 'M[rat]_(2, 3).
have AL i j : whole (L i j) by rewrite mxE; case: eqP.
move=> /(_ whole power (map_mx power L) L L) no.
apply: (no wholeB power_gt0 powerD power_inj AL AL) => i; first by move=> j; rewrite [RHS]mxE.
by rewrite !big_ord_recr big_ord0 /= !mxE.
Qed.

Theorem inner_width :
  forall (F : numFieldType) (n m : nat) (A : pred F) (e : F -> F) (P L : 'M[F]_(n, m)),
  (forall x y, A x -> A y -> A (x - y)) -> (forall x, A x -> 0 < e x) ->
  (forall x y, A x -> A y -> e (x + y) = e x * e y) ->
  (forall x y, A x -> A y -> e x = e y -> x = y) ->
  (forall i j, A (L i j)) -> (forall i, A (m%:R^-1 * \sum_j L i j)) ->
  (forall i j, e (L i j) = P i j) -> (forall i, \sum_j P i j = 1) ->
  let C := 1%:M - const_mx m%:R^-1 : 'M[F]_m in
  let softmax (S : 'M[F]_(n, m)) := \matrix_(i, j) (e (S i j) / (\sum_k e (S i k))) in
  [/\ forall u : 'cV[F]_n, (\rank (L *m C) <= \rank (L + u *m const_mx 1)%R)%N,
      L *m C = L + (\col_i - (m%:R^-1 * \sum_j L i j)) *m const_mx 1,
      forall (w : nat) (Q : 'M[F]_(n, w)) (K : 'M[F]_(m, w)),
        (forall i j, A ((Q *m K^T) i j)) -> softmax (Q *m K^T) = P -> (\rank (L *m C) <= w)%N,
      exists (Q : 'M[F]_(n, \rank (L *m C))) (K : 'M[F]_(m, \rank (L *m C))),
        softmax (Q *m K^T) = P
    & \rank (L *m C) = 0%N <-> forall i j, P i j = m%:R^-1].
Proof.
move=> F n m A e P L AB e0 eD inj AL Amean eL P1 C softmax.
have m0 (i : 'I_n) : m != 0%N.
  apply/eqP => m0; have := P1 i; rewrite big1 => [/eqP | j _]; first by rewrite eq_sym oner_eq0.
  by have := ltn_ord j; rewrite [X in (_ < X)%N]m0.
have ones : const_mx 1 *m C = 0 :> 'rV[F]_m.
  rewrite mulmxBr mulmx1; apply/rowP => j; rewrite !mxE.
  under eq_bigr => k _ do rewrite !mxE mul1r.
  rewrite sumr_const card_ord -mulr_natl mulfV ?subrr // pnatr_eq0.
  by case: (m) j => [[]|].
have centred : L *m C = L + (\col_i - (m%:R^-1 * \sum_j L i j)) *m const_mx 1.
  rewrite mulmxBr mulmx1; congr (_ + _); apply/matrixP => i j; rewrite !mxE big_ord1 !mxE mulr1.
  by congr (- _); rewrite mulr_sumr; apply: eq_bigr => k _; rewrite mxE mulrC.
have shifted (u : 'cV_n) : L *m C = (L + u *m const_mx 1) *m C.
  by rewrite mulmxDl -mulmxA ones mulmx0 addr0.
have AS i j : A ((L *m C) i j).
  rewrite centred !mxE big_ord1 !mxE mulr1; exact: AB.
have soft (S : 'M[F]_(n, m)) : (forall i j, A (S i j)) ->
    softmax S = P <-> exists u : 'I_n -> F, forall i j, S i j = L i j + u i.
  move=> AS'; rewrite -(softmax_shift AB e0 eD inj AL AS' eL P1); split=> [<- i j | eq].
    by rewrite mxE.
  by apply/matrixP => i j; rewrite mxE.
split=> //.
- by move=> u; rewrite (shifted u) mxrankM_maxl.
- move=> w Q K AQ /(soft _ AQ) [u eq].
  have -> : L *m C = Q *m K^T *m C.
    rewrite (shifted (\col_i u i)); congr (_ *m _); apply/matrixP => i j.
    by rewrite eq !mxE big_ord1 !mxE mulr1.
  by rewrite -mulmxA (leq_trans (mxrankM_maxl _ _)) ?rank_leq_col.
- exists (col_base (L *m C)), (row_base (L *m C))^T; rewrite trmxK mulmx_base.
  apply/soft => //; exists (fun i => - (m%:R^-1 * \sum_j L i j)) => i j.
  by rewrite centred !mxE big_ord1 !mxE mulr1.
- split=> [rank0 i j | same].
    have /eqP/matrixP zero : L *m C == 0 by rewrite -mxrank_eq0 rank0.
    have Lm k : L i k = m%:R^-1 * \sum_j L i j.
      by apply/eqP; have := zero i k; rewrite centred !mxE big_ord1 !mxE mulr1 => /eqP;
         rewrite subr_eq0.
    have Pm k : P i k = P i j by rewrite -!eL !Lm.
    have := P1 i; under eq_bigr => k _ do rewrite Pm.
    rewrite sumr_const card_ord => one.
    have m_neq0 : m%:R != 0 :> F by rewrite pnatr_eq0 (m0 i).
    by apply: (mulfI m_neq0); rewrite mulr_natl one mulfV.
  apply/eqP; rewrite mxrank_eq0; apply/eqP/matrixP => i j.
  rewrite centred !mxE big_ord1 !mxE mulr1; apply/eqP; rewrite subr_eq0; apply/eqP.
  have Lj k : L i k = L i j by apply: inj; rewrite ?eL ?same.
  under eq_bigr => k _ do rewrite Lj.
  by rewrite sumr_const card_ord -[L i j *+ m]mulr_natl mulrA mulVf ?mul1r // pnatr_eq0 (m0 i).
Qed.

Lemma inner_width_witness :
  ~ (forall (A : pred rat) (e : rat -> rat) (P L : 'M[rat]_2),
     (forall x y, A x -> A y -> A (x - y)) -> (forall x, A x -> 0 < e x) ->
     (forall x y, A x -> A y -> e (x + y) = e x * e y) ->
     (forall x y, A x -> A y -> e x = e y -> x = y) ->
     (forall i j, A (L i j)) -> (forall i, A (2%:R^-1 * \sum_j L i j)) ->
     (forall i j, e (L i j) = P i j) -> (forall i, \sum_j P i j = 1) ->
     (forall u : 'cV[rat]_2, False)
     \/ (forall (w : nat) (Q K : 'M[rat]_(2, w.+2)),
           (forall i j, A ((Q *m K^T) i j)) ->
           \matrix_(i, j) (e ((Q *m K^T) i j) / (\sum_k e ((Q *m K^T) i k))) = P -> False)).
Proof.
pose L := const_mx (- 1%:R) : 'M[rat]_2.
have AL i j : whole (L i j) by rewrite mxE.
move=> /(_ whole power (map_mx power L) L wholeB power_gt0 powerD power_inj AL) no.
have mean i : whole (2%:R^-1 * \sum_j L i j) by rewrite !big_ord_recr big_ord0 /= !mxE.
have eL i j : power (L i j) = map_mx power L i j by rewrite [RHS]mxE.
have one i : \sum_j map_mx power L i j = 1 by rewrite !big_ord_recr big_ord0 /= !mxE.
case: (no mean eL one) => [/(_ 0) // | /(_ 0%N 0 0) {}no]; apply: no => [i j|].
  by rewrite mul0mx mxE.
by apply/matrixP => i j; rewrite mul0mx !mxE !big_ord_recr big_ord0 /= !mxE.
Qed.

Theorem token_logits :
  forall (F : fieldType) (n m d d_k : nat) (X : 'M[F]_(n, d)) (X' : 'M[F]_(m, d_k)),
  (row_free X -> row_free X' ->
     forall S : 'M[F]_(n, m), exists M : 'M[F]_(d, d_k), X *m M *m X'^T = S /\ \rank M = \rank S)
  /\ (forall (M : 'M[F]_(d, d_k)) (i k : 'I_n),
        row i X = row k X -> row i (X *m M *m X'^T) = row k (X *m M *m X'^T)).
Proof.
move=> F n m d d_k X X'; split=> [/row_freeP[R XR] /row_freeP[R' XR'] S | M i k same].
  have solved : X *m (R *m S *m R'^T) *m X'^T = S.
    by rewrite !mulmxA XR mul1mx -mulmxA -trmx_mul XR' trmx1 mulmx1.
  exists (R *m S *m R'^T); split=> //; apply/eqP; rewrite eqn_leq; apply/andP; split.
    by rewrite -mulmxA (leq_trans (mxrankM_maxr _ _)) ?mxrankM_maxl.
  by rewrite -{1}solved -mulmxA (leq_trans (mxrankM_maxr _ _)) ?mxrankM_maxl.
by rewrite !row_mul same.
Qed.

Lemma token_logits_witness :
  ~ (forall (X : 'M[rat]_(2, 3)) (X' : 'M[rat]_(2, 3)),
     (row_free X -> row_free X' -> forall S : 'M[rat]_2, False)
     \/ (forall (M : 'M[rat]_3) (i k : 'I_2), row i X = row k X -> False)).
Proof.
pose X := row_mx 1%:M 0 : 'M[rat]_(2, 2 + 1).
have free : row_free X.
  by apply/row_freeP; exists (col_mx 1%:M 0); rewrite mul_row_col mulmx1 mul0mx addr0.
by move=> /(_ X X) [/(_ free free 0) | /(_ 0 0 0 erefl)].
Qed.
