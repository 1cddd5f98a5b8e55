From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import inner_products.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem generator :
  forall (F : fieldType) (n d : nat) (P c P' : 'M[F]_n) (O : 'I_n -> 'I_n -> 'M[F]_d)
    (rho : 'I_n -> F),
  (forall i, rho i = \sum_j P i j * c i j) -> (forall i, rho i != 0) ->
  (forall i j, P' i j = P i j * c i j / rho i) ->
  forall (u : 'I_n -> 'cV[F]_d) (i : 'I_n),
  u i - \sum_j P i j *: ((c i j *: O i j) *m u j)
  = (1 - rho i) *: u i + rho i *: (u i - \sum_j P' i j *: (O i j *m u j)).
Proof.
move=> F n d P c P' O rho rhoE rho0 P'E u i.
rewrite scalerBr scalerBl scale1r addrA subrK scaler_sumr; congr (_ - _).
by apply: eq_bigr => j _; rewrite P'E scalerA mulrC divfK // -scalemxAl scalerA.
Qed.

Lemma generator_witness :
  ~ (forall (P c P' : 'M[rat]_3) (O : 'I_3 -> 'I_3 -> 'M[rat]_2) (rho : 'I_3 -> rat),
     (forall i, rho i = \sum_j P i j * c i j) -> (forall i, rho i != 0) ->
     (forall i j, P' i j = P i j * c i j / rho i) ->
     forall (u : 'I_3 -> 'cV[rat]_2) (i : 'I_3), False).
Proof.
move=> /(_ (const_mx 1) (const_mx 1) (const_mx 3%:R^-1) (fun _ _ => 0) (fun=> 3%:R)) no.
apply: no => [i|//|i j|i|]; last exact: (0 : 'I_3).
- by rewrite !big_ord_recr big_ord0 /= !mxE.
- by rewrite !mxE.
- exact: (fun=> 0).
Qed.

Theorem isometric_walk :
  forall (F : numFieldType) (n d : nat) (P c P' : 'M[F]_n) (O : 'I_n -> 'I_n -> 'M[F]_d)
    (rho : 'I_n -> F) (G : 'I_n -> 'M[F]_d),
  (forall i, rho i = \sum_j P i j * c i j) -> (forall i, 0 < rho i) ->
  (forall i j, P' i j = P i j * c i j / rho i) ->
  (forall i j, 0 <= P i j) -> (forall i j, 0 < c i j) ->
  (forall i j, (O i j)^T *m G i *m O i j = G j) ->
  [/\ forall i j, 0 <= P' i j, forall i, \sum_j P' i j = 1
    & forall i j, (c i j *: O i j)^T *m G i *m (c i j *: O i j) = c i j ^+ 2 *: G j].
Proof.
move=> F n d P c P' O rho G rhoE rho0 P'E P0 c0 iso; split=> [i j | i | i j].
- by rewrite P'E divr_ge0 ?mulr_ge0 // ltW.
- under eq_bigr => j _ do rewrite P'E.
  by rewrite -mulr_suml -rhoE mulfV ?lt0r_neq0.
- by rewrite trZ -!scalemxAl -scalemxAr scalerA iso.
Qed.

Lemma isometric_walk_witness :
  ~ (forall (P c P' : 'M[rat]_3) (O : 'I_3 -> 'I_3 -> 'M[rat]_2) (rho : 'I_3 -> rat)
       (G : 'I_3 -> 'M[rat]_2),
     (forall i, rho i = \sum_j P i j * c i j) -> (forall i, 0 < rho i) ->
     (forall i j, P' i j = P i j * c i j / rho i) ->
     (forall i j, 0 <= P i j) -> (forall i j, 0 < c i j) ->
     (forall i j, (O i j)^T *m G i *m O i j = G j) ->
     (forall i j : 'I_3, False) \/ ((forall i : 'I_3, False) \/ (forall i j : 'I_3, False))).
Proof.
move=> /(_ (const_mx 1) (const_mx 1) (const_mx 3%:R^-1) (fun _ _ => 1%:M) (fun=> 3%:R)) no.
case: (no (fun=> 1%:M)) => [i|//|i j|i j|i j|i j|/(_ 0 0)//|[/(_ 0)//|/(_ 0 0)//]].
- by rewrite !big_ord_recr big_ord0 /= !mxE.
- by rewrite !mxE.
- by rewrite mxE.
- by rewrite mxE.
- by rewrite trmx1 !mulmx1.
Qed.

Theorem laplacian :
  forall (F : numFieldType) (n d : nat) (P c P' : 'M[F]_n) (O T : 'I_n -> 'I_n -> 'M[F]_d)
    (rho pi : 'I_n -> F) (G : 'I_n -> 'M[F]_d),
  (forall i, rho i = \sum_j P i j * c i j) -> (forall i, 0 < rho i) ->
  (forall i j, P' i j = P i j * c i j / rho i) ->
  (forall i j, 0 <= P i j) -> (forall i j, 0 < c i j) ->
  (forall i j, (O i j)^T *m G i *m O i j = G j) -> (forall i j, T i j = c i j *: O i j) ->
  let sigma i := pi i / rho i in
  [/\ (forall i j, pi i * P' i j = pi j * P' j i)
      <-> (forall i j, sigma i * (P i j * c i j) = sigma j * (P j i * c j i)),
      (forall i j, P' i j != 0 -> O i j *m O j i = 1%:M)
      <-> (forall i j, P i j != 0 -> T i j *m T j i = (c i j * c j i)%:M)
    & [/\ (forall i j, 0 <= P' i j) /\ (forall i, \sum_j P' i j = 1),
          forall i j, pi i * P' i j = pi j * P' j i,
          forall i j, P' i j != 0 -> (O i j)^T *m G i *m O i j = G j
        & forall i j, P' i j != 0 -> O i j *m O j i = 1%:M]
      <-> (forall i j, sigma i * (P i j * c i j) = sigma j * (P j i * c j i))
          /\ (forall i j, P i j != 0 -> T i j *m T j i = (c i j * c j i)%:M)].
Proof.
move=> F n d P c P' O T rho pi G rhoE rho0 P'E P0 c0 iso TE sigma.
have flow i j : pi i * P' i j = sigma i * (P i j * c i j).
  by rewrite P'E mulrCA [RHS]mulrC mulrA.
have edge i j : (P' i j != 0) = (P i j != 0).
  by rewrite P'E !mulf_eq0 invr_eq0 !(gt_eqF (rho0 _)) (gt_eqF (c0 _ _)) !orbF.
have b : (forall i j, pi i * P' i j = pi j * P' j i)
    <-> (forall i j, sigma i * (P i j * c i j) = sigma j * (P j i * c j i)).
  by split=> eq i j; [rewrite -!flow eq | rewrite !flow eq].
have there i j : (O i j *m O j i = 1%:M) <-> (T i j *m T j i = (c i j * c j i)%:M).
  rewrite !TE -scalemxAl -scalemxAr scalerA -[(c i j * _)%:M]scalemx1.
  have cc : c i j * c j i != 0 by rewrite mulf_neq0 ?lt0r_neq0.
  by split=> [-> | /(scalerI cc)].
have d_ : (forall i j, P' i j != 0 -> O i j *m O j i = 1%:M)
      <-> (forall i j, P i j != 0 -> T i j *m T j i = (c i j * c j i)%:M).
  by split=> inv i j Pij; apply/there/inv; rewrite ?edge // -edge.
have [nonneg stoch _] := isometric_walk rhoE rho0 P'E P0 c0 iso.
split=> //; split=> [[_ /b b' _ /d_ d'] // | [/b b' /d_ d']]; split=> // i j _; exact: iso.
Qed.

Lemma laplacian_witness :
  ~ (forall (P c P' : 'M[rat]_3) (O T : 'I_3 -> 'I_3 -> 'M[rat]_2) (rho pi : 'I_3 -> rat)
       (G : 'I_3 -> 'M[rat]_2),
     (forall i, rho i = \sum_j P i j * c i j) -> (forall i, 0 < rho i) ->
     (forall i j, P' i j = P i j * c i j / rho i) ->
     (forall i j, 0 <= P i j) -> (forall i j, 0 < c i j) ->
     (forall i j, (O i j)^T *m G i *m O i j = G j) -> (forall i j, T i j = c i j *: O i j) ->
     False).
Proof.
move=> /(_ (const_mx 1) (const_mx 1) (const_mx 3%:R^-1) (fun _ _ => 1%:M) (fun _ _ => 1%:M)) no.
apply: (no (fun=> 3%:R) (fun=> 1) (fun=> 1%:M)) => // [i|i j|i j|i j|i j|i j].
- by rewrite !big_ord_recr big_ord0 /= !mxE.
- by rewrite !mxE.
- by rewrite mxE.
- by rewrite mxE.
- by rewrite trmx1 !mulmx1.
- by rewrite mxE scale1r.
Qed.

Theorem remainder :
  forall (F : fieldType) (n d : nat) (P c P' : 'M[F]_n) (O E : 'I_n -> 'I_n -> 'M[F]_d)
    (rho : 'I_n -> F),
  (forall i, rho i = \sum_j P i j * c i j) -> (forall i, rho i != 0) ->
  (forall i j, P' i j = P i j * c i j / rho i) ->
  forall (u : 'I_n -> 'cV[F]_d) (i : 'I_n),
  u i - \sum_j P i j *: ((c i j *: O i j + E i j) *m u j)
  = (1 - rho i) *: u i + rho i *: (u i - \sum_j P' i j *: (O i j *m u j))
    - \sum_j P i j *: (E i j *m u j).
Proof.
move=> F n d P c P' O E rho rhoE rho0 P'E u i.
rewrite -(generator O rhoE rho0 P'E) -addrA -opprD -big_split; congr (_ - _).
by apply: eq_bigr => j _; rewrite mulmxDl scalerDr.
Qed.

Lemma remainder_witness :
  ~ (forall (P c P' : 'M[rat]_3) (O E : 'I_3 -> 'I_3 -> 'M[rat]_2) (rho : 'I_3 -> rat),
     (forall i, rho i = \sum_j P i j * c i j) -> (forall i, rho i != 0) ->
     (forall i j, P' i j = P i j * c i j / rho i) ->
     forall (u : 'I_3 -> 'cV[rat]_2) (i : 'I_3), False).
Proof. by move=> no; apply: generator_witness => P c P' O; apply: no. Qed.

Theorem remainder_size :
  forall (F : realFieldType) (n d : nat) (P c N : 'M[F]_n) (E : 'I_n -> 'I_n -> 'M[F]_d)
    (A G : 'I_n -> 'M[F]_d) (rho e U : 'I_n -> F) (u : 'I_n -> 'cV[F]_d) (u_max : F),
  (forall i, rho i = \sum_j P i j * c i j) -> (forall i j, 0 <= P i j) ->
  (forall i j, 0 < c i j) -> (forall i, G i = (A i)^T *m A i) ->
  let norm2 i (v : 'cV[F]_d) := (v^T *m G i *m v) 0 0 in
  (forall i j, 0 <= N i j) -> (forall i j, N i j ^+ 2 = norm2 i (E i j *m u j)) ->
  (forall j, 0 <= U j) -> (forall j, U j ^+ 2 = norm2 j (u j)) -> (forall i, 0 <= e i) ->
  (forall i j, N i j <= e i * c i j * U j) -> (forall j, U j <= u_max) ->
  forall i,
  [/\ 0 <= e i * rho i * u_max,
      norm2 i (\sum_j P i j *: (E i j *m u j)) <= (e i * rho i * u_max) ^+ 2
    & forall e_max rho_max, e i = e_max -> rho i <= rho_max ->
      norm2 i (\sum_j P i j *: (E i j *m u j)) <= (e_max * rho_max * u_max) ^+ 2].
Proof.
move=> F n d P c N E A G rho e U u u_max rhoE P0 c0 GE norm2 N0 NE U0 UE e0 small below i.
have norm2E v : norm2 i v = ((A i *m v)^T *m (A i *m v)) 0 0.
  by rewrite /norm2 GE trmx_mul !mulmxA.
have max0 : 0 <= u_max := le_trans (U0 i) (below i).
have rho0 : 0 <= rho i by rewrite rhoE sumr_ge0 // => j _; rewrite mulr_ge0 // ltW.
have squares (s t : F) : 0 <= s -> s <= t -> s ^+ 2 <= t ^+ 2.
  move=> s0 st; rewrite -subr_ge0 subr_sqr mulr_ge0 ?subr_ge0 // addr_ge0 //.
  exact: le_trans st.
have row : \sum_j P i j * N i j <= e i * rho i * u_max.
  rewrite rhoE mulr_sumr mulr_suml; apply: ler_sum => j _.
  rewrite mulrCA -mulrA -subr_ge0 -mulrBr mulr_ge0 // subr_ge0 (le_trans (small i j)) //.
  by rewrite -subr_ge0 -mulrBr !mulr_ge0 ?subr_ge0 // ltW.
have bound : norm2 i (\sum_j P i j *: (E i j *m u j)) <= (e i * rho i * u_max) ^+ 2.
  apply: (@le_trans _ _ ((\sum_j P i j * N i j) ^+ 2)); last first.
    by apply: squares row; rewrite sumr_ge0 // => j _; rewrite mulr_ge0.
  rewrite norm2E mulmx_sumr; under eq_bigr => j _ do rewrite -scalemxAr.
  by apply: sum_le => // j; rewrite -norm2E NE.
split=> // [|e_max rho_max <- le]; first by rewrite !mulr_ge0.
apply: le_trans bound _; apply: squares; first by rewrite !mulr_ge0.
by rewrite -subr_ge0 -mulrBl -mulrBr !mulr_ge0 ?subr_ge0.
Qed.

Lemma remainder_size_witness :
  ~ (forall (P c N : 'M[rat]_3) (E : 'I_3 -> 'I_3 -> 'M[rat]_2) (A G : 'I_3 -> 'M[rat]_2)
       (rho e U : 'I_3 -> rat) (u : 'I_3 -> 'cV[rat]_2) (u_max : rat),
     (forall i, rho i = \sum_j P i j * c i j) -> (forall i j, 0 <= P i j) ->
     (forall i j, 0 < c i j) -> (forall i, G i = (A i)^T *m A i) ->
     let norm2 i (v : 'cV[rat]_2) := (v^T *m G i *m v) 0 0 in
     (forall i j, 0 <= N i j) -> (forall i j, N i j ^+ 2 = norm2 i (E i j *m u j)) ->
     (forall j, 0 <= U j) -> (forall j, U j ^+ 2 = norm2 j (u j)) -> (forall i, 0 <= e i) ->
     (forall i j, N i j <= e i * c i j * U j) -> (forall j, U j <= u_max) ->
     forall (i : 'I_3) (e_max rho_max : rat), e i = e_max -> rho i <= rho_max -> False).
Proof.
move=> /(_ (const_mx 1) (const_mx 1) 0 (fun _ _ => 0) (fun=> 1%:M) (fun=> 1%:M)) no.
apply: (no (fun=> 3%:R) (fun=> 0) (fun=> 0) (fun=> 0) 0 _ _ _ _ _ _ _ _ _ _ _ 0 0 3%:R) => //.
- by move=> i; rewrite !big_ord_recr big_ord0 /= !mxE.
- by move=> i j; rewrite mxE.
- by move=> i j; rewrite mxE.
- by move=> i; rewrite trmx1 mulmx1.
- by move=> i j; rewrite mxE.
- by move=> i j; rewrite !mulmx0 !mxE expr0n.
- by move=> i; rewrite !mulmx0 !mxE expr0n.
- by move=> i j; rewrite !mxE mul0r.
Qed.
