From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums inner_products.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem block_row_sums :
  forall (F : fieldType) (H n m d d_o : nat) (A : 'I_H -> 'M[F]_(n, m))
    (T : 'I_H -> 'M[F]_(d_o, d)),
  (forall h i, \sum_j A h i j = 1) -> forall i, \sum_j \sum_h A h i j *: T h = \sum_h T h.
Proof.
move=> F H n m d d_o A T A1 i; rewrite exchange_big; apply: eq_bigr => h _.
by rewrite -scaler_suml A1 scale1r.
Qed.

Lemma block_row_sums_witness :
  ~ (forall (A : 'I_2 -> 'M[rat]_(2, 3)) (T : 'I_2 -> 'M[rat]_2),
     (forall h i, \sum_j A h i j = 1) -> forall i : 'I_2, False).
Proof.
move=> /(_ (fun=> const_mx 3%:R^-1) (fun=> 0)) no; apply: (no _ 0) => h i.
by rewrite sum3 !mxE.
Qed.

Theorem column_space :
  forall (F : fieldType) (n m d d_o : nat) (V : 'I_n -> 'I_m -> 'M[F]_(d_o, d))
    (V_plus Z : 'M[F]_(d_o, d)) (M : 'M[F]_(n, m)),
  (forall i, \sum_j V i j = V_plus) -> (forall i j, M i j = \sum_a \sum_b V i j a b * Z a b) ->
  forall i, \sum_j M i j = \sum_a \sum_b V_plus a b * Z a b.
Proof.
move=> F n m d d_o V V_plus Z M sums ME i; under eq_bigr => j _ do rewrite ME.
rewrite exchange_big; apply: eq_bigr => a _; rewrite exchange_big; apply: eq_bigr => b _ /=.
by rewrite -mulr_suml -(sums i) summxE.
Qed.

Lemma column_space_witness :
  ~ (forall (V : 'I_2 -> 'I_3 -> 'M[rat]_2) (V_plus Z : 'M[rat]_2) (M : 'M[rat]_(2, 3)),
     (forall i, \sum_j V i j = V_plus) -> (forall i j, M i j = \sum_a \sum_b V i j a b * Z a b) ->
     forall i : 'I_2, False).
Proof.
move=> /(_ (fun _ _ => 0) 0 0 0) no; apply: (no _ _ 0) => [i|i j].
  by rewrite big1.
by rewrite mxE big1 // => a _; rewrite big1 // => b _; rewrite mxE mul0r.
Qed.

Theorem no_positive :
  forall (F : numFieldType) (n m d d_o : nat) (V : 'I_n -> 'I_m -> 'M[F]_(d_o, d))
    (Z : 'M[F]_(d_o, d)) (M Y : 'M[F]_(n, m)),
  (forall i j, M i j = \sum_a \sum_b V i j a b * Z a b) -> (forall i j, 0 < M i j) ->
  (forall i j, 0 <= Y i j) -> \sum_i \sum_j Y i j *: V i j = 0 -> Y = 0.
Proof.
move=> F n m d d_o V Z M Y ME M0 Y0 orth.
have total : \sum_i \sum_j Y i j * M i j = 0.
  transitivity (\sum_a \sum_b (\sum_i \sum_j Y i j *: V i j) a b * Z a b); last first.
    by rewrite orth big1 // => a _; rewrite big1 // => b _; rewrite mxE mul0r.
  transitivity (\sum_i \sum_j \sum_a \sum_b Y i j * (V i j a b * Z a b)).
    apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite ME mulr_sumr.
    by apply: eq_bigr => a _; rewrite mulr_sumr.
  under eq_bigr => i _ do rewrite exchange_big /=.
  rewrite exchange_big; apply: eq_bigr => a _ /=.
  under eq_bigr => i _ do rewrite exchange_big /=.
  rewrite exchange_big; apply: eq_bigr => b _ /=.
  rewrite summxE mulr_suml; apply: eq_bigr => i _; rewrite summxE mulr_suml.
  by apply: eq_bigr => j _; rewrite mxE mulrA.
have part_ge0 i j : 0 <= Y i j * M i j by rewrite mulr_ge0 // ltW.
apply/matrixP => i j; rewrite mxE; apply/eqP; move/eqP: total.
rewrite psumr_eq0 => [/allP /(_ i (mem_index_enum i)) /=|k _]; last exact: sumr_ge0.
rewrite psumr_eq0 => [/allP /(_ j (mem_index_enum j)) /=|k _]; last exact: part_ge0.
by rewrite mulf_eq0 (gt_eqF (M0 _ _)) orbF.
Qed.

Lemma no_positive_witness :
  ~ (forall (V : 'I_2 -> 'I_3 -> 'M[rat]_2) (Z : 'M[rat]_2) (M Y : 'M[rat]_(2, 3)),
     (forall i j, M i j = \sum_a \sum_b V i j a b * Z a b) -> (forall i j, 0 < M i j) ->
     (forall i j, 0 <= Y i j) -> \sum_i \sum_j Y i j *: V i j = 0 -> False).
Proof.
move=> /(_ (fun _ _ => const_mx 1) (const_mx 1) (const_mx 4%:R) 0); apply=> [i j|i j|i j|].
- by rewrite !sum2 !mxE.
- by rewrite mxE.
- by rewrite mxE.
- by rewrite big1 // => i _; rewrite big1 // => j _; rewrite mxE scale0r.
Qed.

Theorem positive_heads :
  forall (F : numFieldType) (r n m : nat) (J : 'M[F]_(n, m)) (M : 'I_r -> 'M[F]_(n, m))
    (mu N : 'I_r -> F) (a_0 k_0 epsilon : F) (A : 'I_r -> 'M[F]_(n, m)),
  (forall i, \sum_j J i j = 1) -> (forall i j, a_0 <= J i j) ->
  (forall h i j, - k_0 <= M h i j) -> (forall h i, \sum_j M h i j = mu h) ->
  0 < epsilon -> epsilon * k_0 < a_0 -> (forall h, N h = 1 + epsilon * mu h) ->
  (forall h i j, A h i j = (J i j + epsilon * M h i j) / N h) ->
  forall h i, [/\ 0 < N h, forall j, 0 < A h i j & \sum_j A h i j = 1].
Proof.
move=> F r n m J M mu N a_0 k_0 epsilon A J1 Ja Mk M1 e0 small NE AE h i.
have B0 j : 0 < J i j + epsilon * M h i j.
  apply: (@lt_le_trans _ _ (a_0 - epsilon * k_0)); first by rewrite subr_gt0.
  rewrite -subr_ge0 opprB [_ - a_0]addrC addrACA -mulrDr addr_ge0 ?subr_ge0 //.
  by rewrite mulr_ge0 ?(ltW e0) // -[k_0]opprK subr_ge0.
have total : \sum_j (J i j + epsilon * M h i j) = N h.
  by rewrite big_split -mulr_sumr J1 M1 NE.
have some : exists j : 'I_m, true.
  case: (pickP (fun _ : 'I_m => true)) => [j _|none]; first by exists j.
  have /eqP := J1 i; rewrite big1 ?[0 == 1]eq_sym ?oner_eq0 // => j _.
  by have := none j.
have N0 : 0 < N h.
  by have [j _] := some; rewrite -total; apply: (@sum_pos _ _ _ j) => // k; exact: ltW.
split=> // [j|]; first by rewrite AE divr_gt0.
by under eq_bigr => j _ do rewrite AE; rewrite -mulr_suml total divff ?lt0r_neq0.
Qed.

Lemma positive_heads_witness :
  ~ (forall (J : 'M[rat]_(2, 3)) (M : 'I_2 -> 'M[rat]_(2, 3)) (mu N : 'I_2 -> rat)
       (a_0 k_0 epsilon : rat) (A : 'I_2 -> 'M[rat]_(2, 3)),
     (forall i, \sum_j J i j = 1) -> (forall i j, a_0 <= J i j) ->
     (forall h i j, - k_0 <= M h i j) -> (forall h i, \sum_j M h i j = mu h) ->
     0 < epsilon -> epsilon * k_0 < a_0 -> (forall h, N h = 1 + epsilon * mu h) ->
     (forall h i j, A h i j = (J i j + epsilon * M h i j) / N h) ->
     forall (h : 'I_2) (i : 'I_2), (forall j : 'I_3, False)).
Proof.
pose J := const_mx 3%:R^-1 : 'M[rat]_(2, 3).
move=> /(_ J (fun=> 0) (fun=> 0) (fun=> 1) 3%:R^-1 0 1 (fun=> J)) no.
apply: (no _ _ _ _ _ _ _ _ 0 0 0) => // *; rewrite ?sum3 ?mxE ?mulr0 ?addr0 ?oppr0 ?divr1 //.
Qed.
