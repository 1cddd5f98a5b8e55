From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require causal_collapse composite_norm constant_transport
  constant_transport_logits defect_spectra depth distance_matrices edge_gauge equivariance
  exact_rank filtrations filtrations_masks gated_mixture gated_mixture_heads gibbs_weights
  head_count holonomy kernel_sense laplacian_reduction linear_attention preconditioned_step
  rank_collapse rank_collapse_layers rank_spectrum recurrences reversibility rigidity
  scaled_isometries score_rank single_head_laplacian softmax_separation tensor_attention
  variational_readout woodbury.
Local Open Scope ring_scope.

(* CW1. Single-head attention is a connection walk with constant transport. *)

Theorem CW1_constant_transport :
  forall (F : fieldType) (n m d d_v d_o : nat) (P : 'M[F]_(n, m)) (X : 'M[F]_(m, d))
    (W_V : 'M[F]_(d, d_v)) (W_O : 'M[F]_(d_v, d_o)) (b_V : 'rV[F]_d_v) (b_O : 'rV[F]_d_o)
    (i : 'I_n),
  (row i (P *m (X *m W_V + const_mx 1 *m b_V) *m W_O + const_mx 1 *m b_O))^T
  = \sum_j P i j *: ((W_V *m W_O)^T *m (row j X)^T)
    + (\sum_j P i j) *: (W_O^T *m b_V^T) + b_O^T.
Proof. exact @constant_transport.constant_transport. Qed.

Theorem CW1_kronecker :
  forall (F : fieldType) (n m d d_o : nat) (P : 'M[F]_(n, m)) (T : 'M[F]_(d_o, d))
    (K : 'M[F]_(n * d_o, m * d)),
  (forall X : 'M[F]_(m, d),
     K *m (mxvec X)^T = (mxvec (\matrix_i (\sum_j P i j *: (T *m (row j X)^T)^T)))^T)
  <-> (forall i a j b, K (mxvec_index i a) (mxvec_index j b) = P i j * T a b).
Proof. exact @constant_transport.kronecker. Qed.

Theorem CW1_biases :
  forall (F : fieldType) (n m d_v d_o : nat) (P : 'M[F]_(n, m)) (W_O : 'M[F]_(d_v, d_o))
    (b_V : 'rV[F]_d_v) (b_O : 'rV[F]_d_o),
  ((forall i k, (\sum_j P i j) *: (W_O^T *m b_V^T) + b_O^T
               = (\sum_j P k j) *: (W_O^T *m b_V^T) + b_O^T)
   <-> (forall i k, (\sum_j P i j) *: (W_O^T *m b_V^T) = (\sum_j P k j) *: (W_O^T *m b_V^T)))
  /\ ((forall i, \sum_j P i j = 1) ->
      forall i, (\sum_j P i j) *: (W_O^T *m b_V^T) + b_O^T = W_O^T *m b_V^T + b_O^T).
Proof. exact @constant_transport.biases. Qed.

Theorem CW1_masks_and_sinks :
  forall (F : numFieldType) (n m d d_v d_o : nat) (X : 'M[F]_(m, d)) (W_V : 'M[F]_(d, d_v))
    (W_O : 'M[F]_(d_v, d_o)) (b_V : 'rV[F]_d_v) (b_O : 'rV[F]_d_o),
  let y (P : 'M[F]_(n, m)) := P *m (X *m W_V + const_mx 1 *m b_V) *m W_O + const_mx 1 *m b_O in
  [/\ forall (P P' : 'M[F]_(n, m)) (i : 'I_n),
        (row i (y P'))^T = (row i (y P))^T
          + \sum_j (P' i j - P i j) *: ((W_V *m W_O)^T *m (row j X)^T + W_O^T *m b_V^T),
      forall (E : 'M[F]_(n, m)) (o : 'I_n -> F),
        (forall i j, 0 < E i j) -> (forall i, 0 < o i) ->
        let P := \matrix_(i, j) (E i j / (\sum_k E i k + o i)) : 'M[F]_(n, m) in
        let P' := row_mx P (\col_i (o i / (\sum_k E i k + o i))) : 'M[F]_(n, m + 1) in
        [/\ forall i, \sum_j P i j < 1, forall i, \sum_j P' i j = 1
          & P' *m col_mx (X *m W_V + const_mx 1 *m b_V) 0 *m W_O + const_mx 1 *m b_O = y P]
    & forall (P : 'M[F]_(n, m)) (i : 'I_n),
        (forall j, P i j = 0) -> row i (y P) = b_O].
Proof. exact @constant_transport.masks_and_sinks. Qed.

Theorem CW1_value_width :
  forall (F : fieldType) (d d_o : nat) (T : 'M[F]_(d_o, d)),
  (forall (d_v : nat) (W_V : 'M[F]_(d, d_v)) (W_O : 'M[F]_(d_v, d_o)),
     (W_V *m W_O)^T = T -> (\rank T <= d_v)%N)
  /\ exists (W_V : 'M[F]_(d, \rank T)) (W_O : 'M[F]_(\rank T, d_o)), (W_V *m W_O)^T = T.
Proof. exact @constant_transport.value_width. Qed.

Theorem CW1_logits_of_a_walk :
  forall (F : numFieldType) (n m : nat) (A : pred F) (e : F -> F) (P L S : 'M[F]_(n, m)),
  (forall x y, A x -> A y -> A (x - y)) -> (forall x, A x -> 0 < e x) ->
  (forall x y, A x -> A y -> e (x + y) = e x * e y) ->
  (forall x y, A x -> A y -> e x = e y -> x = y) ->
  (forall i j, A (L i j)) -> (forall i j, A (S i j)) ->
  (forall i j, e (L i j) = P i j) -> (forall i, \sum_j P i j = 1) ->
  (forall i j, e (S i j) / (\sum_k e (S i k)) = P i j)
  <-> exists u : 'I_n -> F, forall i j, S i j = L i j + u i.
Proof. exact @constant_transport_logits.logits_of_a_walk. Qed.

Theorem CW1_inner_width :
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
Proof. exact @constant_transport_logits.inner_width. Qed.

Theorem CW1_token_logits :
  forall (F : fieldType) (n m d d_k : nat) (X : 'M[F]_(n, d)) (X' : 'M[F]_(m, d_k)),
  (row_free X -> row_free X' ->
     forall S : 'M[F]_(n, m), exists M : 'M[F]_(d, d_k), X *m M *m X'^T = S /\ \rank M = \rank S)
  /\ (forall (M : 'M[F]_(d, d_k)) (i k : 'I_n),
        row i X = row k X -> row i (X *m M *m X'^T) = row k (X *m M *m X'^T)).
Proof. exact @constant_transport_logits.token_logits. Qed.

(* CW2. Multi-head attention is one edge-dependent connection walk. *)

Theorem CW2_gates :
  forall (F : numFieldType) (H n m d d_o : nat) (A : 'I_H -> 'M[F]_(n, m)) (w : 'I_H -> F)
    (T : 'I_H -> 'M[F]_(d_o, d)) (P : 'M[F]_(n, m)) (g : 'I_H -> 'M[F]_(n, m))
    (T_e : 'I_n -> 'I_m -> 'M[F]_(d_o, d)),
  (forall h i j, 0 <= A h i j) -> (forall h, 0 < w h) -> P = \sum_h w h *: A h ->
  (forall h i j, P i j * g h i j = w h * A h i j) ->
  (forall i j, P i j != 0 -> T_e i j = \sum_h (g h i j / w h) *: T h) ->
  forall (x : 'I_m -> 'cV[F]_d) (i : 'I_n),
  \sum_h \sum_j A h i j *: (T h *m x j) = \sum_j P i j *: (T_e i j *m x j).
Proof. exact @gated_mixture.gates. Qed.

Theorem CW2_gates_are_weights :
  forall (F : numFieldType) (H n m : nat) (A : 'I_H -> 'M[F]_(n, m)) (w : 'I_H -> F)
    (P : 'M[F]_(n, m)) (g : 'I_H -> 'M[F]_(n, m)),
  (forall h i j, 0 <= A h i j) -> (forall h, 0 < w h) -> P = \sum_h w h *: A h ->
  (forall h i j, P i j * g h i j = w h * A h i j) ->
  forall i j, P i j != 0 -> (forall h, 0 <= g h i j) /\ \sum_h g h i j = 1.
Proof. exact @gated_mixture.gates_are_weights. Qed.

Theorem CW2_off_support :
  forall (F : numFieldType) (H n m d d_o : nat) (A : 'I_H -> 'M[F]_(n, m)) (w : 'I_H -> F)
    (P : 'M[F]_(n, m)),
  (forall h i j, 0 <= A h i j) -> (forall h, 0 < w h) -> P = \sum_h w h *: A h ->
  [/\ forall h i j, 0 <= w h * A h i j <= P i j,
      forall i j, P i j = 0 -> forall h, A h i j = 0
    & forall T T' : 'I_n -> 'I_m -> 'M[F]_(d_o, d),
        (forall i j, P i j != 0 -> T i j = T' i j) ->
        forall (x : 'I_m -> 'cV[F]_d) i,
        \sum_j P i j *: (T i j *m x j) = \sum_j P i j *: (T' i j *m x j)].
Proof. exact @gated_mixture.off_support. Qed.

Theorem CW2_row_sums :
  forall (F : numFieldType) (H n m : nat) (A : 'I_H -> 'M[F]_(n.+1, m)) (w : 'I_H -> F),
  (forall h i, \sum_j A h i j = 1) ->
  (forall i, \sum_j (\sum_h w h *: A h) i j = 1) <-> \sum_h w h = 1.
Proof. exact @gated_mixture.row_sums. Qed.

Theorem CW2_convex_mixture :
  forall (F : numFieldType) (H n m d d_o : nat) (A : 'I_H.+1 -> 'M[F]_(n, m))
    (T : 'I_H.+1 -> 'M[F]_(d_o, d)) (P : 'M[F]_(n, m)) (g : 'I_H.+1 -> 'M[F]_(n, m))
    (T_e : 'I_n -> 'I_m -> 'M[F]_(d_o, d)),
  let w := H.+1%:R^-1 in
  (forall h i j, 0 <= A h i j) -> P = \sum_h w *: A h ->
  (forall h i j, P i j * g h i j = w * A h i j) ->
  (forall i j, P i j != 0 -> T_e i j = \sum_h (g h i j / w) *: T h) ->
  forall i j, P i j != 0 ->
  [/\ forall h, 0 <= g h i j, \sum_h g h i j = 1,
      T_e i j = \sum_h g h i j *: (H.+1%:R *: T h)
    & T_e i j = H.+1%:R *: \sum_h g h i j *: T h].
Proof. exact @gated_mixture.convex_mixture. Qed.

Theorem CW2_constancy :
  forall (F : fieldType) (H n m d d_o : nat) (w : 'I_H -> F) (T : 'I_H -> 'M[F]_(d_o, d))
    (g : 'I_H -> 'M[F]_(n, m)) (T_e : 'I_n -> 'I_m -> 'M[F]_(d_o, d)) (i k : 'I_n) (j l : 'I_m),
  T_e i j = \sum_h (g h i j / w h) *: T h -> T_e k l = \sum_h (g h k l / w h) *: T h ->
  T_e i j = T_e k l
  <-> (\row_h (g h i j - g h k l)) *m (\matrix_h mxvec ((w h)^-1 *: T h)) = 0.
Proof. exact @gated_mixture.constancy. Qed.

Theorem CW2_grouped_query :
  forall (F : fieldType) (H K n m d d_v d_o : nat) (kv : 'I_H -> 'I_K)
    (A : 'I_H -> 'M[F]_(n, m)) (X : 'M[F]_(m, d)) (W_V : 'I_K -> 'M[F]_(d, d_v))
    (W_O : 'I_H -> 'M[F]_(d_v, d_o)) (i : 'I_n),
  (row i (\sum_h A h *m (X *m W_V (kv h)) *m W_O h))^T
  = \sum_h \sum_j A h i j *: ((W_V (kv h) *m W_O h)^T *m (row j X)^T).
Proof. exact @gated_mixture.grouped_query. Qed.

Theorem CW2_two_heads :
  forall (F : fieldType) (n m d d_o : nat) (w : 'I_2 -> F) (T : 'I_2 -> 'M[F]_(d_o, d))
    (P : 'M[F]_(n, m)) (g : 'I_2 -> 'M[F]_(n, m)) (T_e : 'I_n -> 'I_m -> 'M[F]_(d_o, d)),
  (forall i j, P i j != 0 -> \sum_h g h i j = 1) ->
  (forall i j, P i j != 0 -> T_e i j = \sum_h (g h i j / w h) *: T h) ->
  (forall i j k l, P i j != 0 -> P k l != 0 -> T_e i j = T_e k l)
  <-> (forall i j k l, P i j != 0 -> P k l != 0 -> forall h, g h i j = g h k l)
      \/ (w 0)^-1 *: T 0 = (w 1)^-1 *: T 1.
Proof. exact @gated_mixture_heads.two_heads. Qed.

Theorem CW2_three_heads :
  forall F : numFieldType,
  exists (A : 'I_3 -> 'M[F]_(1, 2)) (w : 'I_3 -> F) (T : 'I_3 -> 'M[F]_1) (P : 'M[F]_(1, 2))
    (g : 'I_3 -> 'M[F]_(1, 2)) (T_e : 'I_1 -> 'I_2 -> 'M[F]_1),
  [/\ (forall h i j, 0 <= A h i j) /\ (forall h i, \sum_j A h i j = 1),
      (forall h, 0 < w h) /\ P = \sum_h w h *: A h,
      (forall i j, 0 < P i j) /\ (forall h i j, P i j * g h i j = w h * A h i j),
      (forall i j, T_e i j = \sum_h (g h i j / w h) *: T h) /\ (forall i j k l, T_e i j = T_e k l)
    & (exists h, g h 0 0 != g h 0 1)
      /\ (forall h k, h != k -> (w h)^-1 *: T h != (w k)^-1 *: T k)].
Proof. exact @gated_mixture_heads.three_heads. Qed.

(* CW3. Connection walks with one operator: edge and node gauge. *)

Theorem CW3_same_operator :
  forall (F : fieldType) (n m d d_o : nat) (P P' : 'M[F]_(n, m))
    (T T' : 'I_n -> 'I_m -> 'M[F]_(d_o, d)),
  (forall (x : 'I_m -> 'cV[F]_d) (i : 'I_n),
     \sum_j P i j *: (T i j *m x j) = \sum_j P' i j *: (T' i j *m x j))
  <-> (forall i j, P i j *: T i j = P' i j *: T' i j).
Proof. exact @edge_gauge.same_operator. Qed.

Theorem CW3_frobenius :
  forall (F : realFieldType) (m d d_o : nat) (W T : 'I_m -> 'M[F]_(d_o, d)) (c P : 'I_m -> F),
  (forall j, 0 <= c j) -> (forall j, c j ^+ 2 = \sum_a \sum_b W j a b ^+ 2) ->
  (forall j, 0 <= P j) -> (forall j, W j = 0 -> P j = 0) -> (exists j, W j != 0) ->
  (forall j, P j *: T j = W j) -> \sum_j P j = 1 ->
  (exists t, forall j, W j != 0 -> \sum_a \sum_b T j a b ^+ 2 = t)
  <-> (forall j, P j = c j / \sum_k c k).
Proof. exact @edge_gauge.frobenius. Qed.

Theorem CW3_frobenius__exists :
  forall (F : realFieldType) (m d d_o : nat) (W : 'I_m -> 'M[F]_(d_o, d)) (c : 'I_m -> F),
  (forall j, 0 <= c j) -> (forall j, c j ^+ 2 = \sum_a \sum_b W j a b ^+ 2) ->
  (exists j, W j != 0) ->
  let P j := c j / \sum_k c k in
  [/\ forall j, 0 <= P j, forall j, W j = 0 <-> P j = 0, \sum_j P j = 1
    & exists T : 'I_m -> 'M[F]_(d_o, d), forall j, P j *: T j = W j].
Proof. exact @edge_gauge.frobenius__exists. Qed.

Theorem CW3_what_stays :
  forall (F : numFieldType) (n d : nat) (P P' : 'M[F]_n) (T T' : 'I_n -> 'I_n -> 'M[F]_d),
  (forall i j, P i j *: T i j = P' i j *: T' i j) ->
  forall (i : 'I_n) (s : seq 'I_n),
  (\prod_(e <- zip (i :: s) s) P e.1 e.2) *: (\big[mulmx/1%:M]_(e <- zip (i :: s) s) T e.1 e.2)
  = (\prod_(e <- zip (i :: s) s) P' e.1 e.2)
    *: (\big[mulmx/1%:M]_(e <- zip (i :: s) s) T' e.1 e.2)
  /\ (all (fun e => (0 < P e.1 e.2) && (0 < P' e.1 e.2)) (zip (i :: s) s) ->
      exists2 c, 0 < c
      & \big[mulmx/1%:M]_(e <- zip (i :: s) s) T' e.1 e.2
        = c *: (\big[mulmx/1%:M]_(e <- zip (i :: s) s) T e.1 e.2)).
Proof. exact @edge_gauge.what_stays. Qed.

Theorem CW3_what_changes :
  forall F : numFieldType,
  [/\ exists (P P' : 'M[F]_1) (T T' : 'I_1 -> 'I_1 -> 'M[F]_1),
        [/\ forall i j, P i j *: T i j = P' i j *: T' i j,
            forall i, \sum_j P i j = 1, forall i, \sum_j P' i j != 1,
            forall i j, (T i j)^T *m T i j = 1%:M & forall i j, (T' i j)^T *m T' i j != 1%:M],
      exists (P P' : 'M[F]_3) (T T' : 'I_3 -> 'I_3 -> 'M[F]_1),
        [/\ forall i j, P i j *: T i j = P' i j *: T' i j,
            forall i j, 0 < P i j, forall i j, 0 < P' i j,
            (forall i, \sum_j P i j = 1) /\ (forall i, \sum_j P' i j = 1)
          & (exists2 pi : 'I_3 -> F, forall i, 0 < pi i
             & forall i j, pi i * P i j = pi j * P j i)
            /\ ~ (exists2 pi : 'I_3 -> F, forall i, 0 < pi i
                  & forall i j, pi i * P' i j = pi j * P' j i)]
    & exists (A : 'I_2 -> 'M[F]_1) (w w' : 'I_2 -> F) (g g' : 'I_2 -> 'M[F]_1),
        [/\ forall h i, \sum_j A h i j = 1, (forall h, 0 < w h) /\ (forall h, 0 < w' h),
            \sum_h w h *: A h = \sum_h w' h *: A h,
            forall h i j, (\sum_k w k *: A k) i j * g h i j = w h * A h i j
                          /\ (\sum_k w' k *: A k) i j * g' h i j = w' h * A h i j
          & g 0 != g' 0]].
Proof. exact @edge_gauge.what_changes. Qed.

Theorem CW3_node_gauge :
  forall (F : fieldType) (n d : nat) (P : 'M[F]_n) (T : 'I_n -> 'I_n -> 'M[F]_d)
    (g : 'I_n -> 'M[F]_d),
  (forall i, g i \in unitmx) ->
  let moved i j := g i *m T i j *m invmx (g j) in
  [/\ forall (x : 'I_n -> 'cV[F]_d) i,
        \sum_j P i j *: (moved i j *m (g j *m x j)) = g i *m \sum_j P i j *: (T i j *m x j),
      forall (i : 'I_n) (s : seq 'I_n),
        \big[mulmx/1%:M]_(e <- zip (i :: s) s) moved e.1 e.2
        = g i *m (\big[mulmx/1%:M]_(e <- zip (i :: s) s) T e.1 e.2) *m invmx (g (last i s))
    & forall (G : 'I_n -> 'M[F]_d) i j,
        let H k := (invmx (g k))^T *m G k *m invmx (g k) in
        (T i j)^T *m G i *m T i j = G j -> (moved i j)^T *m H i *m moved i j = H j].
Proof. exact @edge_gauge.node_gauge. Qed.

(* CW4. How many heads an operator needs. *)

Theorem CW4_block_row_sums :
  forall (F : fieldType) (H n m d d_o : nat) (A : 'I_H -> 'M[F]_(n, m))
    (T : 'I_H -> 'M[F]_(d_o, d)),
  (forall h i, \sum_j A h i j = 1) -> forall i, \sum_j \sum_h A h i j *: T h = \sum_h T h.
Proof. exact @head_count.block_row_sums. Qed.

Theorem CW4_column_space :
  forall (F : fieldType) (n m d d_o : nat) (V : 'I_n -> 'I_m -> 'M[F]_(d_o, d))
    (V_plus Z : 'M[F]_(d_o, d)) (M : 'M[F]_(n, m)),
  (forall i, \sum_j V i j = V_plus) -> (forall i j, M i j = \sum_a \sum_b V i j a b * Z a b) ->
  forall i, \sum_j M i j = \sum_a \sum_b V_plus a b * Z a b.
Proof. exact @head_count.column_space. Qed.

Theorem CW4_no_positive :
  forall (F : numFieldType) (n m d d_o : nat) (V : 'I_n -> 'I_m -> 'M[F]_(d_o, d))
    (Z : 'M[F]_(d_o, d)) (M Y : 'M[F]_(n, m)),
  (forall i j, M i j = \sum_a \sum_b V i j a b * Z a b) -> (forall i j, 0 < M i j) ->
  (forall i j, 0 <= Y i j) -> \sum_i \sum_j Y i j *: V i j = 0 -> Y = 0.
Proof. exact @head_count.no_positive. Qed.

Theorem CW4_positive_heads :
  forall (F : numFieldType) (r n m : nat) (J : 'M[F]_(n, m)) (M : 'I_r -> 'M[F]_(n, m))
    (mu N : 'I_r -> F) (a_0 k_0 epsilon : F) (A : 'I_r -> 'M[F]_(n, m)),
  (forall i, \sum_j J i j = 1) -> (forall i j, a_0 <= J i j) ->
  (forall h i j, - k_0 <= M h i j) -> (forall h i, \sum_j M h i j = mu h) ->
  0 < epsilon -> epsilon * k_0 < a_0 -> (forall h, N h = 1 + epsilon * mu h) ->
  (forall h i j, A h i j = (J i j + epsilon * M h i j) / N h) ->
  forall h i, [/\ 0 < N h, forall j, 0 < A h i j & \sum_j A h i j = 1].
Proof. exact @head_count.positive_heads. Qed.

(* CW5. When attention is a random walk on a connection Laplacian. *)

Theorem CW5_energy :
  forall (F : fieldType) (n d : nat) (P : 'M[F]_n) (T : 'I_n -> 'I_n -> 'M[F]_d)
    (G : 'I_n -> 'M[F]_d) (pi : 'I_n -> F),
  (forall i, (G i)^T = G i) -> (forall i, \sum_j P i j = 1) ->
  (forall j, \sum_i pi i * P i j = pi j) ->
  (forall i j, P i j != 0 -> (T i j)^T *m G i *m T i j = G j) ->
  forall u : 'I_n -> 'cV[F]_d,
  let L i := u i - \sum_j P i j *: (T i j *m u j) in
  2%:R * (\sum_i pi i * (((u i)^T *m G i *m L i) 0 0))
  = \sum_i \sum_j pi i * P i j
      * (((u i - T i j *m u j)^T *m G i *m (u i - T i j *m u j)) 0 0).
Proof. exact @laplacian_reduction.energy. Qed.

(* CW6. Single-head attention as a connection Laplacian. *)

Theorem CW6_involution :
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
Proof. exact @single_head_laplacian.involution. Qed.

Theorem CW6_orthogonal :
  forall (F : fieldType) (d : nat) (T : 'M[F]_d),
  (T *m T = 1%:M /\ T^T *m T = 1%:M) <-> (T = T^T /\ T *m T = 1%:M).
Proof. exact @single_head_laplacian.orthogonal. Qed.

(* CW7. Multi-head attention with isometric heads is rigid. *)

Theorem CW7_gates :
  forall (F : numFieldType) (H n m d d_o : nat) (A : 'I_H.+1 -> 'M[F]_(n, m))
    (T : 'I_H.+1 -> 'M[F]_(d_o, d)) (P : 'M[F]_(n, m)) (g : 'I_H.+1 -> 'M[F]_(n, m)),
  (forall h i j, 0 <= A h i j) -> P = \sum_h H.+1%:R^-1 *: A h ->
  (forall h i j, P i j * g h i j = H.+1%:R^-1 * A h i j) ->
  forall (i : 'I_n) (j : 'I_m) (T_ij : 'M[F]_(d_o, d)), 0 < P i j ->
  \sum_h A h i j *: T h = P i j *: T_ij <-> T_ij = \sum_h g h i j *: (H.+1%:R *: T h).
Proof. exact @rigidity.gates. Qed.

Theorem CW7_identity :
  forall (F : numFieldType) (H d : nat) (g : 'I_H -> F) (O : 'I_H -> 'M[F]_d) (A G T : 'M[F]_d),
  G = A^T *m A -> \sum_h g h = 1 -> (forall h, (O h)^T *m G *m O h = G) ->
  T = \sum_h g h *: O h ->
  G - T^T *m G *m T
  = 2%:R^-1 *: (\sum_h \sum_k (g h * g k) *: ((O h - O k)^T *m G *m (O h - O k)))
  /\ \sum_(h < H) \sum_(k < H | (h < k)%N) (g h * g k) *: ((O h - O k)^T *m G *m (O h - O k))
     = 2%:R^-1 *: (\sum_h \sum_k (g h * g k) *: ((O h - O k)^T *m G *m (O h - O k))).
Proof. exact @rigidity.identity. Qed.

Theorem CW7_isometry :
  forall (F : realFieldType) (H d : nat) (g : 'I_H -> F) (O : 'I_H -> 'M[F]_d) (A G T : 'M[F]_d),
  G = A^T *m A -> \sum_h g h = 1 -> (forall h, (O h)^T *m G *m O h = G) ->
  T = \sum_h g h *: O h -> (forall h, 0 <= g h) -> A \in unitmx ->
  T^T *m G *m T = G <-> (forall h k, 0 < g h -> 0 < g k -> O h = O k).
Proof. exact @rigidity.isometry. Qed.

Theorem CW7_contraction :
  forall (F : realFieldType) (H d : nat) (g : 'I_H -> F) (O : 'I_H -> 'M[F]_d) (A G T : 'M[F]_d),
  G = A^T *m A -> \sum_h g h = 1 -> (forall h, (O h)^T *m G *m O h = G) ->
  T = \sum_h g h *: O h -> (forall h, 0 <= g h) ->
  let norm2 (v : 'cV[F]_d) := (v^T *m G *m v) 0 0 in
  (forall v : 'cV[F]_d, norm2 (T *m v) <= norm2 v)
  /\ (forall h k, A \in unitmx -> 0 < g h -> 0 < g k -> O h != O k ->
      \sum_b (norm2 (delta_mx b 0) - norm2 (T *m delta_mx b 0)) != 0
      /\ exists b, norm2 (T *m delta_mx b 0) < norm2 (delta_mx b 0)).
Proof. exact @rigidity.contraction. Qed.

(* CW8. When softmax attention is reversible. *)

Theorem CW8_kolmogorov__triangles :
  forall (F : numFieldType) (n : nat) (P : 'M[F]_n.+1), (forall i j, 0 < P i j) ->
  ((exists2 pi : 'I_n.+1 -> F, forall i, 0 < pi i & forall i j, pi i * P i j = pi j * P j i)
   <-> (forall i j k, P i j * P j k * P k i = P i k * P k j * P j i))
  /\ ((forall i j k, P i j * P j k * P k i = P i k * P k j * P j i) ->
      forall o, (forall i, 0 < P o i / P i o)
      /\ forall i j, P o i / P i o * P i j = P o j / P j o * P j i).
Proof. exact @reversibility.kolmogorov__triangles. Qed.

Theorem CW8_kolmogorov__softmax :
  forall (F : numFieldType) (n : nat) (A : pred F) (e : F -> F) (P S : 'M[F]_n.+1),
  (forall x y, A x -> A y -> A (x - y)) -> (forall x, A x -> 0 < e x) ->
  (forall x y, A x -> A y -> e (x + y) = e x * e y) ->
  (forall x y, A x -> A y -> e x = e y -> x = y) -> (forall i j, A (S i j)) ->
  (forall i j, P i j = e (S i j) / (\sum_k e (S i k))) ->
  let B := 2%:R^-1 *: (S - S^T) in
  (forall i j k, P i j * P j k * P k i = P i k * P k j * P j i)
  <-> (forall i j k, B i j + B j k + B k i = 0).
Proof. exact @reversibility.kolmogorov__softmax. Qed.

(* CW10. Holonomy of a connection walk. *)

Theorem CW10_fundamental_cycles :
  forall (F : fieldType) (n d : nat) (E B : rel 'I_n) (T : 'I_n -> 'I_n -> 'M[F]_d)
    (g : 'I_n -> 'M[F]_d),
  (forall i, g i \in unitmx) -> (forall i j, B i j -> T i j *m g j = g i) ->
  let h i j := invmx (g i) *m T i j *m g j in
  [/\ forall i j, B i j -> h i j = 1%:M,
      forall i j, T i j *m T j i = 1%:M -> h i j *m h j i = 1%:M,
      (forall i j, E i j -> T i j = g i *m invmx (g j)) <-> (forall i j, E i j -> h i j = 1%:M)
    & (forall i j, E i j -> h i j = 1%:M) -> forall i j, E i j -> T i j *m g j = g i].
Proof. exact @holonomy.fundamental_cycles. Qed.

Theorem CW10_closed_walks :
  forall (F : fieldType) (n d c : nat) (T : 'I_n -> 'I_n -> 'M[F]_d) (u : 'I_n -> 'M[F]_(d, c))
    (i : 'I_n) (s : seq 'I_n),
  all (fun e => u e.1 == T e.1 e.2 *m u e.2) (zip (i :: s) s) ->
  let h := \big[mulmx/1%:M]_(e <- zip (i :: s) s) T e.1 e.2 in
  [/\ u i = h *m u (last i s), last i s = i -> u i = h *m u i
    & last i s = i -> forall R : 'M[F]_(c, d), u i *m R = 1%:M -> h = 1%:M].
Proof. exact @holonomy.closed_walks. Qed.

Theorem CW10_complete_graph :
  forall (F : fieldType) (n d : nat) (T : 'I_n -> 'I_n -> 'M[F]_d) (o i j : 'I_n),
  T i j *m T j i = 1%:M -> T i o *m T o j *m T j i = 1%:M -> T i j = T i o *m T o j.
Proof. exact @holonomy.complete_graph. Qed.

Theorem CW10_spectrum :
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
Proof. exact @holonomy.spectrum. Qed.

Theorem CW10_constant_transport :
  forall (F : fieldType) (n d : nat) (T : 'M[F]_d.+1),
  [/\ forall (i : 'I_n) (s : seq 'I_n),
        \big[mulmx/1%:M]_(e <- zip (i :: s) s) T = T ^+ size s,
      forall p q : nat, (q <= p)%N -> T ^+ p = 1 -> T ^+ q = 1 -> T ^+ (p - q) = 1
    & forall k l : nat, T ^+ k = 1 -> T ^+ (k * l) = 1].
Proof. exact @holonomy.constant_transport. Qed.

(* CW11. Depth: frozen attention layers are a sum over heads and node paths. *)

Theorem CW11_two_layers :
  forall (F : fieldType) (H n d : nat) (A1 A2 : 'I_H -> 'M[F]_n) (T1 T2 : 'I_H -> 'M[F]_d)
    (x : 'I_n -> 'cV[F]_d) (i : 'I_n),
  \sum_h \sum_k A2 h i k *: (T2 h *m (\sum_g \sum_j A1 g k j *: (T1 g *m x j)))
  = \sum_j (\sum_h \sum_g \sum_k (A2 h i k * A1 g k j) *: (T2 h *m T1 g)) *m x j.
Proof. exact @depth.two_layers. Qed.

Theorem CW11_paths :
  forall (F : fieldType) (H n d : nat) (A : nat -> 'I_H -> 'M[F]_n) (T : nat -> 'I_H -> 'M[F]_d)
    (x : 'I_n -> 'cV[F]_d) (L : nat) (i : 'I_n),
  iteri L (fun l y k => \sum_h \sum_j A l h k j *: (T l h *m y j)) x i
  = \sum_(w : L.-tuple ('I_H * 'I_n))
      (\prod_(k < L) A (L - k.+1)%N (tnth w k).1 (nth i (i :: map snd w) k) (tnth w k).2)
      *: ((\big[mulmx/1%:M]_(k < L) T (L - k.+1)%N (tnth w k).1) *m x (last i (map snd w))).
Proof. exact @depth.paths. Qed.

(* CW12. Scaled isometries: an isometric walk's generator plus a potential. *)

Theorem CW12_generator :
  forall (F : fieldType) (n d : nat) (P c P' : 'M[F]_n) (O : 'I_n -> 'I_n -> 'M[F]_d)
    (rho : 'I_n -> F),
  (forall i, rho i = \sum_j P i j * c i j) -> (forall i, rho i != 0) ->
  (forall i j, P' i j = P i j * c i j / rho i) ->
  forall (u : 'I_n -> 'cV[F]_d) (i : 'I_n),
  u i - \sum_j P i j *: ((c i j *: O i j) *m u j)
  = (1 - rho i) *: u i + rho i *: (u i - \sum_j P' i j *: (O i j *m u j)).
Proof. exact @scaled_isometries.generator. Qed.

Theorem CW12_isometric_walk :
  forall (F : numFieldType) (n d : nat) (P c P' : 'M[F]_n) (O : 'I_n -> 'I_n -> 'M[F]_d)
    (rho : 'I_n -> F) (G : 'I_n -> 'M[F]_d),
  (forall i, rho i = \sum_j P i j * c i j) -> (forall i, 0 < rho i) ->
  (forall i j, P' i j = P i j * c i j / rho i) ->
  (forall i j, 0 <= P i j) -> (forall i j, 0 < c i j) ->
  (forall i j, (O i j)^T *m G i *m O i j = G j) ->
  [/\ forall i j, 0 <= P' i j, forall i, \sum_j P' i j = 1
    & forall i j, (c i j *: O i j)^T *m G i *m (c i j *: O i j) = c i j ^+ 2 *: G j].
Proof. exact @scaled_isometries.isometric_walk. Qed.

Theorem CW12_laplacian :
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
Proof. exact @scaled_isometries.laplacian. Qed.

Theorem CW12_remainder :
  forall (F : fieldType) (n d : nat) (P c P' : 'M[F]_n) (O E : 'I_n -> 'I_n -> 'M[F]_d)
    (rho : 'I_n -> F),
  (forall i, rho i = \sum_j P i j * c i j) -> (forall i, rho i != 0) ->
  (forall i j, P' i j = P i j * c i j / rho i) ->
  forall (u : 'I_n -> 'cV[F]_d) (i : 'I_n),
  u i - \sum_j P i j *: ((c i j *: O i j + E i j) *m u j)
  = (1 - rho i) *: u i + rho i *: (u i - \sum_j P' i j *: (O i j *m u j))
    - \sum_j P i j *: (E i j *m u j).
Proof. exact @scaled_isometries.remainder. Qed.

Theorem CW12_remainder_size :
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
Proof. exact @scaled_isometries.remainder_size. Qed.

(* CW13. Spectra from the defects of reversibility and of inverse symmetry. *)

Theorem CW13_imaginary :
  forall (F : realFieldType) (n : nat) (A : 'M[F]_n) (p q : 'cV[F]_n) (alpha beta kappa : F),
  A *m p = alpha *: p - beta *: q -> A *m q = alpha *: q + beta *: p ->
  (p^T *m p) 0 0 + (q^T *m q) 0 0 = 1 ->
  (((A - A^T) *m q)^T *m ((A - A^T) *m q)) 0 0 <= kappa ^+ 2 * (q^T *m q) 0 0 ->
  4%:R * beta ^+ 2 <= kappa ^+ 2.
Proof. exact @defect_spectra.imaginary. Qed.

Theorem CW13_real :
  forall (F : realFieldType) (n : nat) (A : 'M[F]_n) (p q : 'cV[F]_n) (alpha beta nu mu : F),
  A *m p = alpha *: p - beta *: q -> A *m q = alpha *: q + beta *: p ->
  (p^T *m p) 0 0 + (q^T *m q) 0 0 = 1 ->
  (forall v, v = p \/ v = q ->
     nu * (v^T *m v) 0 0 <= (v^T *m (A *m v)) 0 0 <= mu * (v^T *m v) 0 0) ->
  nu <= alpha <= mu.
Proof. exact @defect_spectra.real. Qed.

(* RA1. The rank of geodesic scores is at most 1 + d + g, and generically equal to it. *)

Theorem RA1_features :
  forall (F : fieldType) (n d g : nat) (gamma : 'M[F]_(n, g)) (B : 'I_g -> 'M[F]_d)
    (x : 'I_n -> 'cV[F]_d),
  let G i := \sum_q gamma i q *: B q in
  let S i j := - 2%:R^-1 * (((x i - x j)^T *m G i *m (x i - x j)) 0 0) in
  forall i j,
  S i j = - 2%:R^-1 * (((x i)^T *m G i *m x i) 0 0)
          + ((2%:R^-1 *: ((G i + (G i)^T) *m x i))^T *m x j) 0 0
          - 2%:R^-1 * (\sum_q gamma i q * (((x j)^T *m B q *m x j) 0 0)).
Proof. exact @score_rank.features. Qed.

Theorem RA1_upper_bound :
  forall (F : fieldType) (n d g : nat) (gamma : 'M[F]_(n, g)) (B : 'I_g -> 'M[F]_d)
    (x : 'I_n -> 'cV[F]_d),
  let G i := \sum_q gamma i q *: B q in
  let S := \matrix_(i, j) (- 2%:R^-1 * (((x i - x j)^T *m G i *m (x i - x j)) 0 0)) in
  (\rank S <= 1 + d + g)%N
  /\ exists (Q K : 'M[F]_(n, 1 + d + g)), S = Q *m K^T.
Proof. exact @score_rank.upper_bound. Qed.

Theorem RA1_after_softmax :
  forall (F : fieldType) (n d g : nat) (gamma : 'M[F]_(n, g)) (B : 'I_g -> 'M[F]_d)
    (x : 'I_n -> 'cV[F]_d),
  let G i := \sum_q gamma i q *: B q in
  let S := \matrix_(i, j) (- 2%:R^-1 * (((x i - x j)^T *m G i *m (x i - x j)) 0 0)) in
  let u := \col_i (2%:R^-1 * (((x i)^T *m G i *m x i) 0 0)) in
  exists (Q K : 'M[F]_(n, d + g)), S + u *m const_mx 1 = Q *m K^T.
Proof. exact @score_rank.after_softmax. Qed.

Theorem RA1_symmetrised :
  forall (F : fieldType) (n w : nat) (S : 'M[F]_n) (Q K : 'M[F]_(n, w)),
  S = Q *m K^T ->
  (exists (Q' K' : 'M[F]_(n, w + w)), 2%:R^-1 *: (S + S^T) = Q' *m K'^T)
  /\ (\rank (2%:R^-1 *: (S + S^T))%R <= 2 * w)%N.
Proof. exact @score_rank.symmetrised. Qed.

Theorem RA1_symmetrised__scores :
  forall (F : fieldType) (n d g : nat) (gamma : 'M[F]_(n, g)) (B : 'I_g -> 'M[F]_d)
    (x : 'I_n -> 'cV[F]_d),
  let G i := \sum_q gamma i q *: B q in
  let S := \matrix_(i, j) (- 2%:R^-1 * (((x i - x j)^T *m G i *m (x i - x j)) 0 0)) in
  (\rank (2%:R^-1 *: (S + S^T))%R <= 2 * (1 + d + g))%N.
Proof. exact @score_rank.symmetrised__scores. Qed.

(* RA2. The rank of geodesic scores is min(n, C(d+2, 2)) in every dimension d. *)

Theorem RA2_one_token :
  forall (F : numFieldType) (n d : nat) (x : 'I_n -> 'cV[F]_d) (G : 'I_n -> 'M[F]_d) (S : 'M[F]_n),
  (forall i j, S i j = - 2%:R^-1 * ((x i - x j)^T *m G i *m (x i - x j)) 0 0) ->
  forall i, S i i = 0 /\ \rank (\matrix_(k < 1, l < 1) S i i) = 0%N.
Proof. exact @exact_rank.one_token. Qed.

Theorem RA2_certificate :
  forall (F : numFieldType) (d f : nat) (s t : 'I_f -> 'I_d.+1) (E : 'M[F]_(f, d.+1)),
  (forall k, (s k < t k)%N) -> (forall k l, s k = s l -> t k = t l -> k = l) ->
  E = \matrix_(k, a) ((a == s k)%:R + (a == t k)%:R) ->
  let X := col_mx 0 (col_mx 1%:M (col_mx 2%:R%:M E)) : 'M[F]_(1 + (d.+1 + (d.+1 + f)), d.+1) in
  let V := col_mx 0 (col_mx 0 (col_mx 1%:M E)) : 'M[F]_(1 + (d.+1 + (d.+1 + f)), d.+1) in
  let G i := 1%:M + (row i V)^T *m row i V in
  let S := \matrix_(i, j)
    (- 2%:R^-1 * ((row i X - row j X) *m G i *m (row i X - row j X)^T) 0 0) in
  \det S <> 0.
Proof. exact @exact_rank.certificate. Qed.

(* RA3. The rank spectrum of score families. *)

Theorem RA3_widths :
  forall (F : fieldType) (n m w w_1 : nat) (A : 'M[F]_(n, w)) (B : 'M[F]_(m, w))
    (A' : 'M[F]_(n, w_1)) (B' : 'M[F]_(m, w_1)),
  A *m B^T + A' *m B'^T = row_mx A A' *m (row_mx B B')^T
  /\ (\rank (A *m B^T + A' *m B'^T)%R <= w + w_1)%N.
Proof. exact @rank_spectrum.widths. Qed.

Theorem RA3_bilinear :
  forall (F : numFieldType) (n d : nat) (X : 'M[F]_(n, d)) (G : 'I_n -> 'M[F]_d),
  let S := \matrix_(i, j) (row i X *m G i *m (row j X)^T) 0 0 : 'M[F]_n in
  [/\ exists A B : 'M[F]_(n, d), S = A *m B^T,
      exists A B : 'M[F]_(n, d + d),
        \matrix_(i, j) (2%:R^-1 * (row i X *m (G i + G j) *m (row j X)^T) 0 0) = A *m B^T,
      forall G_0 : 'M[F]_d, (forall i, G i = G_0) ->
        exists A B : 'M[F]_(n, d),
          \matrix_(i, j) (2%:R^-1 * (row i X *m (G i + G j) *m (row j X)^T) 0 0) = A *m B^T
    & forall (r : nat) (lambda : F) (U : 'M[F]_(d, r)) (C : 'I_n -> 'M[F]_r),
        (forall i, G i = lambda%:M + U *m (C i + (C i)^T) *m U^T) ->
        exists A B : 'M[F]_(n, d + r),
          \matrix_(i, j) (2%:R^-1 * (row i X *m (G i + G j) *m (row j X)^T) 0 0) = A *m B^T].
Proof. exact @rank_spectrum.bilinear. Qed.

Theorem RA3_subspace :
  forall (F : fieldType) (n w d : nat) (W : 'M[F]_(d, w)) (z : 'I_n -> 'cV[F]_w)
    (x : 'I_n -> 'cV[F]_d) (G : 'I_n -> 'M[F]_d),
  (forall i, x i = W *m z i) -> forall i j,
  (x i - x j)^T *m G i *m (x i - x j) = (z i - z j)^T *m (W^T *m G i *m W) *m (z i - z j)
  /\ (x i)^T *m G i *m x j = (z i)^T *m (W^T *m G i *m W) *m z j.
Proof. exact @rank_spectrum.subspace. Qed.

(* RA4. The width that softmax needs is the rank of the centred scores. *)

Theorem RA4_centred :
  forall (F : numFieldType) (n m : nat) (S : 'M[F]_(n, m.+1)),
  let C := 1%:M - const_mx m.+1%:R^-1 : 'M[F]_m.+1 in
  (forall u : 'cV[F]_n, (\rank (S *m C) <= \rank (S + u *m const_mx 1)%R)%N)
  /\ S *m C = S + (\col_i - (m.+1%:R^-1 * \sum_j S i j)) *m const_mx 1.
Proof. exact @softmax_separation.centred. Qed.

Theorem RA4_width :
  forall (F : numFieldType) (n m : nat) (A : pred F) (e : F -> F) (S : 'M[F]_(n, m.+1)),
  (forall x y, A x -> A y -> A (x - y)) -> (forall x, A x -> 0 < e x) ->
  (forall x y, A x -> A y -> e (x + y) = e x * e y) ->
  (forall x y, A x -> A y -> e x = e y -> x = y) ->
  (forall i j, A (S i j)) -> (forall i, A (m.+1%:R^-1 * \sum_j S i j)) ->
  let C := 1%:M - const_mx m.+1%:R^-1 : 'M[F]_m.+1 in
  let softmax (S : 'M[F]_(n, m.+1)) := \matrix_(i, j) (e (S i j) / (\sum_k e (S i k))) in
  [/\ forall (w : nat) (Q : 'M[F]_(n, w)) (K : 'M[F]_(m.+1, w)),
        (forall i j, A ((Q *m K^T) i j)) ->
        softmax (Q *m K^T) = softmax S <-> exists u : 'cV[F]_n, Q *m K^T = S + u *m const_mx 1,
      forall (w : nat) (Q : 'M[F]_(n, w)) (K : 'M[F]_(m.+1, w)),
        (forall i j, A ((Q *m K^T) i j)) -> softmax (Q *m K^T) = softmax S ->
        (\rank (S *m C) <= w)%N
    & exists (Q : 'M[F]_(n, \rank (S *m C))) (K : 'M[F]_(m.+1, \rank (S *m C))),
        Q *m K^T = S *m C /\ softmax (Q *m K^T) = softmax S].
Proof. exact @softmax_separation.width. Qed.

Theorem RA4_invertible :
  forall (F : numFieldType) (m : nat) (T : 'M[F]_m.+1), T \in unitmx ->
  let C := 1%:M - const_mx m.+1%:R^-1 : 'M[F]_m.+1 in \rank (T *m C) = m.
Proof. exact @softmax_separation.invertible. Qed.

Theorem RA4_column_terms :
  forall (F : numFieldType) (n m : nat) (S : 'M[F]_(n, m.+1)),
  let C := 1%:M - const_mx m.+1%:R^-1 : 'M[F]_m.+1 in
  (forall (w : nat) (Q : 'M[F]_(n, w)) (K : 'M[F]_(m.+1, w)) (c : 'rV[F]_m.+1) (u : 'cV[F]_n),
     Q *m K^T + const_mx 1 *m c = S + u *m const_mx 1 -> (\rank (S *m C) <= w + 1)%N)
  /\ (forall s : F, exists (u : 'cV[F]_n) (c : 'rV[F]_m.+1),
        \matrix_(i < n, j < m.+1) (- s * (i%:R - j%:R)) = u *m const_mx 1 + const_mx 1 *m c).
Proof. exact @softmax_separation.column_terms. Qed.

(* RA5. Matrices of unsquared distances have full rank. *)

Theorem RA5_squared :
  forall (F : realFieldType) (n d : nat) (x : 'I_n -> 'cV[F]_d) (D : 'M[F]_n) (c : 'cV[F]_n),
  (forall i j, D i j = \sum_a (x i - x j) a 0 ^+ 2) -> \sum_i c i 0 = 0 ->
  (c^T *m D *m c) 0 0 = - 2%:R * (\sum_a (\sum_i c i 0 *: x i) a 0 ^+ 2)
  /\ (c^T *m D *m c) 0 0 <= 0.
Proof. exact @distance_matrices.squared. Qed.

(* RA6. Metrics of low rank are inverted in r dimensions. *)

Theorem RA6_capacitance :
  forall (F : realFieldType) (d r : nat) (D : 'rV[F]_d) (U : 'M[F]_(d, r)),
  (forall a, 0 < D 0 a) ->
  let C := 1%:M + U^T *m invmx (diag_mx D) *m U in
  let G := diag_mx D + U *m U^T in
  [/\ forall y : 'cV_r, (y^T *m y) 0 0 <= (y^T *m C *m y) 0 0,
      forall z : 'cV_d, (z^T *m diag_mx D *m z) 0 0 <= (z^T *m G *m z) 0 0,
      forall y : 'cV_r, C *m y = 0 -> y = 0 & forall z : 'cV_d, G *m z = 0 -> z = 0].
Proof. exact @woodbury.capacitance. Qed.

Theorem RA6_inverse :
  forall (F : realFieldType) (d r : nat) (D : 'rV[F]_d) (U : 'M[F]_(d, r)),
  (forall a, 0 < D 0 a) ->
  let D' := invmx (diag_mx D) in
  let K := invmx (1%:M + U^T *m D' *m U) in
  let G := diag_mx D + U *m U^T in
  [/\ K *m (1%:M + U^T *m D' *m U) = 1%:M, G *m (D' - D' *m U *m K *m U^T *m D') = 1%:M
    & (D' - D' *m U *m K *m U^T *m D') *m G = 1%:M].
Proof. exact @woodbury.inverse. Qed.

Theorem RA6_determinant :
  forall (F : realFieldType) (d r : nat) (D : 'rV[F]_d) (U : 'M[F]_(d, r)),
  (forall a, 0 < D 0 a) ->
  let C := 1%:M + U^T *m invmx (diag_mx D) *m U in
  let G := diag_mx D + U *m U^T in
  [/\ \det (block_mx (diag_mx D) (- U) U^T 1%:M) = \det (diag_mx D) * \det C,
      \det (block_mx (diag_mx D) (- U) U^T 1%:M) = \det G
    & \det G = \det (diag_mx D) * \det C].
Proof. exact @woodbury.determinant. Qed.

Theorem RA6_pair :
  forall (F : fieldType) (d r : nat) (D : 'rV[F]_d) (U : 'M[F]_(d, r)) (x : 'cV[F]_d),
  let w := U^T *m x in
  let v := (diag_mx D + U *m U^T) *m x in
  v = diag_mx D *m x + U *m w
  /\ (v^T *m x) 0 0 = (\sum_a D 0 a * x a 0 ^+ 2) + (\sum_c w c 0 ^+ 2).
Proof. exact @woodbury.pair. Qed.

Theorem RA6_residuals :
  forall (F : realFieldType) (d r : nat) (D : 'rV[F]_d) (U : 'M[F]_(d, r)) (z p : 'cV[F]_d)
    (y q : 'cV[F]_r),
  (forall a, 0 < D 0 a) -> p = diag_mx D *m z + U *m y -> q = y - U^T *m z ->
  (\sum_a D 0 a * z a 0 ^+ 2) + (\sum_c y c 0 ^+ 2)
  <= (\sum_a p a 0 ^+ 2 / D 0 a) + (\sum_c q c 0 ^+ 2).
Proof. exact @woodbury.residuals. Qed.

(* RA9. The metric-preconditioned step: a covariant direction, a step for affine maps only. *)

Theorem RA9_lengths :
  forall (F : fieldType) (d : nat) (A : 'M[F]_d), A \in unitmx ->
  let G := A^T *m A in
  [/\ G *m (invmx A *m (invmx A)^T) = 1%:M /\ invmx G = invmx A *m (invmx A)^T,
      forall v : 'cV[F]_d, (v^T *m G *m v) 0 0 = \sum_a (A *m v) a 0 ^+ 2
    & forall p : 'cV[F]_d,
        (p^T *m invmx G *m p) 0 0 = \sum_a ((invmx A)^T *m p) a 0 ^+ 2].
Proof. exact @preconditioned_step.lengths. Qed.

Theorem RA9_cauchy_schwarz :
  forall (F : realFieldType) (d : nat) (A : 'M[F]_d) (p v : 'cV[F]_d), A \in unitmx ->
  let G := A^T *m A in
  let x := A *m v in
  let y := (invmx A)^T *m p in
  [/\ (p^T *m v) 0 0 ^+ 2 <= (p^T *m invmx G *m p) 0 0 * (v^T *m G *m v) 0 0,
      (p^T *m v) 0 0 ^+ 2 = (p^T *m invmx G *m p) 0 0 * (v^T *m G *m v) 0 0
      <-> (forall a b, x a 0 * y b 0 - x b 0 * y a 0 = 0)
    & (p^T *m v) 0 0 ^+ 2 = (p^T *m invmx G *m p) 0 0 * (v^T *m G *m v) 0 0 ->
      (p^T *m invmx G *m p) 0 0 *: v = (p^T *m v) 0 0 *: (invmx G *m p)].
Proof. exact @preconditioned_step.cauchy_schwarz. Qed.

Theorem RA9_model :
  forall (F : realFieldType) (d : nat) (A : 'M[F]_d) (p v : 'cV[F]_d) (eta : F), A \in unitmx ->
  let G := A^T *m A in
  let norm2 (u : 'cV[F]_d) := (u^T *m G *m u) 0 0 in
  let w := v + eta *: (invmx G *m p) in
  [/\ 2%:R * eta * (p^T *m v) 0 0 + norm2 v
      = norm2 w - eta ^+ 2 * (p^T *m invmx G *m p) 0 0,
      - (eta ^+ 2 * (p^T *m invmx G *m p) 0 0) <= 2%:R * eta * (p^T *m v) 0 0 + norm2 v,
      2%:R * eta * (p^T *m v) 0 0 + norm2 v = - (eta ^+ 2 * (p^T *m invmx G *m p) 0 0)
      <-> A *m w = 0,
      A *m w = 0 -> v = - (eta *: (invmx G *m p))
    & 0 < eta ->
      let f (u : 'cV[F]_d) := (p^T *m u) 0 0 + norm2 u / (2%:R * eta) in
      let step := - (eta *: (invmx G *m p)) in
      f step <= f v /\ (f v = f step -> v = step)].
Proof. exact @preconditioned_step.model. Qed.

(* RA11. Rank collapse: pure attention contracts the diameter of its tokens, whatever the score. *)

Theorem RA11_row_spreads :
  forall (F : realFieldType) (n m : nat) (s : 'M[F]_(n, m)) (B : F),
  (forall i j l, s i j - s i l <= B) ->
  forall i k j l, s i j - s k j - s i l + s k l <= 2%:R * B.
Proof. exact @rank_collapse.row_spreads. Qed.

Theorem RA11_dobrushin :
  forall (F : realFieldType) (d m : nat) (N : 'cV[F]_d -> F) (p q : 'I_m -> F) (I : pred 'I_m)
    (x : 'I_m -> 'cV[F]_d) (D : F),
  (forall u v, N (u + v) <= N u + N v) -> (forall a u, N (a *: u) = `|a| * N u) ->
  \sum_j p j = 1 -> \sum_j q j = 1 ->
  (forall j, if I j then 0 <= p j - q j else p j - q j <= 0) ->
  (forall j l, N (x j - x l) <= D) ->
  let T := \sum_(j | I j) (p j - q j) in
  [/\ T = 2%:R^-1 * (\sum_j `|p j - q j|), N ((\sum_j p j *: x j) - (\sum_j q j *: x j)) <= T * D
    & (forall j, 0 <= p j) -> (forall j, 0 <= q j) -> T <= 1].
Proof. exact @rank_collapse.dobrushin. Qed.

Theorem RA11_dobrushin__oscillation :
  forall (F : realFieldType) (d n m : nat) (N : 'cV[F]_d -> F) (A : 'M[F]_(n, m))
    (x : 'I_m -> 'cV[F]_d) (D tau : F),
  (forall u v, N (u + v) <= N u + N v) -> (forall a u, N (a *: u) = `|a| * N u) ->
  (forall i, \sum_j A i j = 1) -> (forall j l, N (x j - x l) <= D) ->
  (forall i k, 2%:R^-1 * (\sum_j `|A i j - A k j|) <= tau) ->
  forall i k, N ((\sum_j A i j *: x j) - (\sum_j A k j *: x j)) <= tau * D.
Proof. exact @rank_collapse_layers.dobrushin__oscillation. Qed.

Theorem RA11_cubic :
  forall (F : realFieldType) (H : nat) (omega tau g Delta : 'I_H -> F) (D z : F),
  (forall h, 0 <= omega h) -> (forall h, 0 <= tau h) -> (forall h, 0 <= g h) ->
  (forall h, tau h <= 4%:R^-1 * Delta h) -> (forall h, Delta h <= g h * D ^+ 2) ->
  let kappa := \sum_h omega h * tau h in
  let c := 4%:R^-1 * (\sum_h omega h * g h) in
  kappa <= c * D ^+ 2 /\ (z <= kappa ^+ 2 * D ^+ 2 -> c * z <= (c * D ^+ 2) ^+ 3).
Proof. exact @rank_collapse.cubic. Qed.

Theorem RA11_quadratic :
  forall (F : realFieldType) (H : nat) (omega tau rho Delta : 'I_H -> F) (D D' : F),
  (forall h, 0 <= omega h) -> (forall h, 0 <= tau h) -> (forall h, 0 <= rho h) -> 0 <= D ->
  (forall h, tau h <= 4%:R^-1 * Delta h) -> (forall h, Delta h <= 2%:R * rho h * D) ->
  let kappa := \sum_h omega h * tau h in
  let c := 2%:R^-1 * (\sum_h omega h * rho h) in
  kappa <= c * D /\ (D' <= kappa * D -> c * D' <= (c * D) ^+ 2).
Proof. exact @rank_collapse.quadratic. Qed.

Theorem RA11_ball :
  forall (F : realFieldType) (d m H : nat) (N : 'cV[F]_d -> F) (p : 'I_H -> 'I_m -> F)
    (W : 'I_H -> 'M[F]_d) (omega : 'I_H -> F) (x : 'I_m -> 'cV[F]_d) (rho : F),
  (forall u v, N (u + v) <= N u + N v) -> (forall a u, N (a *: u) = `|a| * N u) ->
  (forall h u, N (W h *m u) <= omega h * N u) -> (forall h, 0 <= omega h) ->
  \sum_h omega h <= 1 -> (forall h j, 0 <= p h j) -> (forall h, \sum_j p h j = 1) ->
  0 <= rho -> (forall j, N (x j) <= rho) ->
  N (\sum_h \sum_j p h j *: (W h *m x j)) <= rho.
Proof. exact @rank_collapse.ball. Qed.

Theorem RA11_ball__layers :
  forall (F : realFieldType) (d n H : nat) (N : 'cV[F]_d -> F) (A : nat -> 'I_H -> 'M[F]_n)
    (W : nat -> 'I_H -> 'M[F]_d) (omega : nat -> 'I_H -> F) (x : nat -> 'I_n -> 'cV[F]_d)
    (rho : F),
  (forall u v, N (u + v) <= N u + N v) -> (forall a u, N (a *: u) = `|a| * N u) ->
  (forall l h u, N (W l h *m u) <= omega l h * N u) -> (forall l h, 0 <= omega l h) ->
  (forall l, \sum_h omega l h <= 1) -> (forall l h i j, 0 <= A l h i j) ->
  (forall l h i, \sum_j A l h i j = 1) -> 0 <= rho ->
  (forall l i, x l.+1 i = \sum_h \sum_j A l h i j *: (W l h *m x l j)) ->
  (forall j, N (x 0%N j) <= rho) -> forall l i, N (x l i) <= rho.
Proof. exact @rank_collapse_layers.ball__layers. Qed.

(* RA13. The composite of two norms in the analysis of rank collapse. *)

Theorem RA13_two_norms :
  forall (F : numFieldType) (H n m : nat) (X : 'I_H -> 'M[F]_(n, m)) (alpha alpha' : 'I_H -> F),
  (forall h j, \sum_i `|X h i j| <= alpha h) -> (forall h i, \sum_j `|X h i j| <= alpha' h) ->
  (forall j, \sum_i `|(\sum_h X h) i j| <= \sum_h alpha h)
  /\ (forall i, \sum_j `|(\sum_h X h) i j| <= \sum_h alpha' h).
Proof. exact @composite_norm.two_norms. Qed.

Theorem RA13_submultiplicative :
  forall (F : realFieldType) (n m p : nat) (E : 'M[F]_(n, m)) (G : 'M[F]_(m, p)) (a a' b b' : F),
  0 <= a -> 0 <= a' -> 0 <= b -> 0 <= b' ->
  (forall j, \sum_i `|E i j| <= a) -> (forall i, \sum_j `|E i j| <= a') ->
  (forall j, \sum_i `|G i j| <= b) -> (forall i, \sum_j `|G i j| <= b') ->
  forall i j,
  (\sum_k `|(E *m G) k j|) * (\sum_k `|(E *m G) i k|) <= a * b * (a' * b')
  /\ forall x y z, 0 <= x -> 0 <= y -> x ^+ 2 = a * a' -> y ^+ 2 = b * b' ->
     z ^+ 2 = (\sum_k `|(E *m G) k j|) * (\sum_k `|(E *m G) i k|) -> z <= x * y.
Proof. exact @composite_norm.submultiplicative. Qed.

(* RA17. Causal stacks collapse, at rate 1/k where x_k is the first token unlike x_1. *)

Theorem RA17_token_k :
  forall (F : fieldType) (n d : nat) (A : 'M[F]_n) (x : 'I_n -> 'rV[F]_d) (u : 'rV[F]_d)
    (k : 'I_n),
  (forall i, \sum_j A i j = 1) -> (forall i j : 'I_n, (i < j)%N -> A i j = 0) ->
  (forall j : 'I_n, (j < k)%N -> x j = u) ->
  let y i := \sum_j A i j *: x j in
  [/\ forall i : 'I_n, (i < k)%N -> y i = u, y k - u = A k k *: (x k - u)
    & forall i : 'I_n, (k < i)%N ->
        y i - u = A i k *: (x k - u) + \sum_(j < n | (k < j)%N) A i j *: (x j - u)].
Proof. exact @causal_collapse.token_k. Qed.

Theorem RA17_uniform :
  forall (F : numFieldType) (p d : nat) (x : nat -> 'I_p.+1 -> 'rV[F]_d) (u : 'rV[F]_d),
  (forall l (j : 'I_p.+1), (j < p)%N -> x l j = u) ->
  (forall l, x l.+1 ord_max = \sum_j p.+1%:R^-1 *: x l j) ->
  let y l := x l ord_max - u in
  forall l,
  [/\ p.+1%:R *: y l.+1 = y l, forall c, y l.+2 0 c * y l 0 c = y l.+1 0 c ^+ 2
    & y l = p.+1%:R^-1 ^+ l *: y 0%N].
Proof. exact @causal_collapse.uniform. Qed.

Theorem RA17_row_weights :
  forall (F : realFieldType) (m : nat) (E : 'I_m -> F) (D : F),
  (forall j, 0 < E j) -> (forall j p, E j <= D * E p) ->
  let A j := E j / (\sum_p E p) in
  forall j : 'I_m,
  [/\ \sum_p A p = 1, m%:R * A j <= D, 1 <= (1 + (m%:R - 1) * D) * A j,
      (1 + (m%:R - 1) * D)^-1 <= A j /\ (m = 2%N -> D^-1 / (1 + D^-1) <= A j)
    & `|A j - m%:R^-1| <= D - 1].
Proof. exact @causal_collapse.row_weights. Qed.

Theorem RA17_quotients :
  forall (F : realFieldType) (i k : nat) (E : 'I_i -> F) (G : 'I_k -> F) (D : F),
  (forall j, 0 < E j) -> (forall j p, E j <= D * E p) ->
  (forall q, 0 < G q) -> (forall q p, G q <= D * G p) ->
  let A j := E j / (\sum_p E p) in let B q := G q / (\sum_p G p) in
  forall j q,
  [/\ i%:R * A j <= k%:R * D ^+ 2 * B q, k%:R * B q <= i%:R * D ^+ 2 * A j,
      `|A j / B q - k%:R / i%:R| <= k%:R / i%:R * (D ^+ 2 - 1)
    & (k < i)%N -> k%:R / i%:R < 1 :> F].
Proof. exact @causal_collapse.quotients. Qed.

(* RA18. The kernel sense of Gram: exp(S / tau) for every tau. *)

Theorem RA18_conditional :
  forall (F : realFieldType) (n : nat) (S : 'M[F]_n) (o : 'I_n),
  let form (A : 'M[F]_n) (c : 'cV[F]_n) := (c^T *m A *m c) 0 0 in
  let K := \matrix_(i, j) (S i j - S i o - S o j + S o o) in
  [/\ forall (a b c : 'cV[F]_n), \sum_i c i 0 = 0 ->
        form (S + a *m const_mx 1 + const_mx 1 *m b^T) c = form S c,
      forall z : 'cV[F]_n, let c := z - (\sum_k z k 0) *: delta_mx o 0 in
        \sum_i c i 0 = 0 /\ form S c = form K z
    & (forall c : 'cV[F]_n, \sum_i c i 0 = 0 -> 0 <= form S c)
      <-> (forall z : 'cV[F]_n, 0 <= form K z)].
Proof. exact @kernel_sense.conditional. Qed.

Theorem RA18_homogeneous :
  forall (F : realFieldType) (n d : nat) (A G : 'M[F]_d) (x : 'I_n -> 'cV[F]_d) (S : 'M[F]_n),
  G = A^T *m A ->
  (forall i j, S i j = - 2%:R^-1 * ((x i - x j)^T *m G *m (x i - x j)) 0 0) ->
  (forall c : 'cV[F]_n, \sum_i c i 0 = 0 ->
     (c^T *m S *m c) 0 0 = \sum_a (\sum_i c i 0 *: (A *m x i)) a 0 ^+ 2
     /\ 0 <= (c^T *m S *m c) 0 0)
  /\ (forall o i j, S i j - S i o - S o j + S o o = ((x i - x o)^T *m G *m (x j - x o)) 0 0
        /\ ((x i - x o)^T *m G *m (x j - x o)) 0 0
           = \sum_a (A *m (x i - x o)) a 0 * (A *m (x j - x o)) a 0).
Proof. exact @kernel_sense.homogeneous. Qed.

(* AP1. Gibbs: softmax weights are the unique maximiser of score plus entropy. *)

Theorem AP1_softmax :
  forall (F : numFieldType) (m : nat) (A : pred F) (e : F -> F) (E q : 'I_m -> F) (Z : F),
  (forall x y, A x -> A y -> A (x - y)) -> (forall x, A x -> 0 < e x) ->
  (forall x y, A x -> A y -> e (x + y) = e x * e y) ->
  (forall x y, A x -> A y -> e x = e y -> x = y) ->
  (forall j, 0 < E j) -> Z = \sum_j E j -> (forall j, q j = E j / Z) ->
  forall j,
  [/\ \sum_k q k = 1, q j * Z = E j,
      forall x lambda L, A x -> A lambda -> A L ->
        e x = E j -> e lambda = q j -> e L = Z -> lambda + L = x
    & forall p ell omega phi lambda, A ell -> A phi -> A lambda ->
        e ell = p -> e phi = omega -> e lambda = q j ->
        omega ^+ 2 * p = q j <-> 2%:R * phi + ell = lambda].
Proof. exact @gibbs_weights.softmax. Qed.

Theorem AP1_elementary :
  (forall (F : realFieldType) (u : F) (c : nat -> F),
     c 1%N = u ^+ 2 ->
     (forall L, (0 < L)%N -> c L.+1 = 2%:R * c L + (2%:R ^+ L * u + c L) ^+ 2) ->
     forall L, (0 < L)%N -> (1 + u) ^+ (2 ^ L) = 1 + 2%:R ^+ L * u + c L /\ 0 <= c L)
  /\ (forall (F : realFieldType) (t : F),
      (forall L, (0 < L)%N -> 1 + t <= (1 + t / 2%:R ^+ L) ^+ (2 ^ L))
      /\ forall x : F,
         (forall eps, 0 < eps -> exists L0 : nat, forall L : nat, (L0 <= L)%N ->
            `|(1 + t / 2%:R ^+ L) ^+ (2 ^ L) - x| < eps) -> 1 + t <= x).
Proof. exact @gibbs_weights.elementary. Qed.

(* AP3. Causal attention is the readout along a filtration of worlds. *)

Theorem AP3_growth :
  forall (F : numFieldType) (n m d : nat) (kappa mu mu' nu : 'M[F]_(n, m)) (v : 'I_m -> 'rV[F]_d),
  mu' = mu + nu ->
  let N i := \sum_j kappa i j * mu i j in let N' i := \sum_j kappa i j * mu' i j in
  let R i := (N i)^-1 *: \sum_j (kappa i j * mu i j) *: v j in
  let R' i := (N' i)^-1 *: \sum_j (kappa i j * mu' i j) *: v j in
  [/\ (forall i j, 0 <= nu i j) -> forall i j, mu i j <= mu' i j,
      forall i, 0 < N i -> 0 < N' i ->
        N' i *: R' i = N i *: R i + \sum_j (kappa i j * nu i j) *: v j
    & forall i j o : nat,
        (j <= i.+1 + o)%N%:R = (j <= i + o)%N%:R + (j == i.+1 + o)%N%:R :> F].
Proof. exact @filtrations.growth. Qed.

Theorem AP3_prefix :
  forall (F : numFieldType) (n m d : nat) (kappa mu : 'M[F]_(n, m)) (v : 'I_m -> 'rV[F]_d)
    (later : 'I_n -> 'I_m -> bool),
  (forall i j, later i j -> mu i j = 0) ->
  let N i := \sum_j kappa i j * mu i j in
  let N_1 i := \sum_(j | ~~ later i j) kappa i j * mu i j in
  let R i := (N i)^-1 *: \sum_j (kappa i j * mu i j) *: v j in
  let R_1 i := (N_1 i)^-1 *: \sum_(j | ~~ later i j) (kappa i j * mu i j) *: v j in
  forall i, 0 < N_1 i ->
  [/\ forall j, later i j -> kappa i j * mu i j / N i = 0, 0 < N i, N i = N_1 i, R i = R_1 i
    & forall (kappa' : 'M[F]_(n, m)) (v' : 'I_m -> 'rV[F]_d),
        (forall j, ~~ later i j -> kappa' i j = kappa i j /\ v' j = v j) ->
        (\sum_j kappa' i j * mu i j)^-1 *: (\sum_j (kappa' i j * mu i j) *: v' j) = R i].
Proof. exact @filtrations.prefix. Qed.

Theorem AP3_mask_limit :
  forall (F : numFieldType) (n m d : nat) (e : F -> F) (kappa mu : 'M[F]_(n, m))
    (v : 'I_m -> 'rV[F]_d) (hidden : 'I_n -> 'I_m -> bool) (i : 'I_n),
  (forall x, 0 < e x) -> (forall j, hidden i j -> 0 <= kappa i j /\ 0 <= mu i j) ->
  let masked M j := if hidden i j then e (- M) * kappa i j else kappa i j in
  let N_1 := \sum_(j | ~~ hidden i j) kappa i j * mu i j in
  let B := \sum_(j | hidden i j) kappa i j * mu i j in
  let S M := \sum_j masked M j * mu i j in
  let R_1 := N_1^-1 *: \sum_(j | ~~ hidden i j) (kappa i j * mu i j) *: v j in
  let T M := (S M)^-1 *: \sum_j (masked M j * mu i j) *: v j in
  0 < N_1 ->
  [/\ forall M, S M = N_1 + e (- M) * B
        /\ S M *: (T M - R_1)
           = e (- M) *: \sum_(l | hidden i l) (kappa i l * mu i l) *: (v l - R_1),
      forall M c Delta, (forall l, hidden i l -> `|v l 0 c - R_1 0 c| <= Delta) ->
        S M * `|T M 0 c - R_1 0 c| <= e (- M) * B * Delta,
      forall M l, hidden i l -> N_1 * (masked M l * mu i l / S M) <= e (- M) * kappa i l * mu i l
    & (forall eps, 0 < eps -> exists M0, forall M, M0 <= M -> e (- M) < eps) ->
      forall c delta, 0 < delta ->
        exists M0, forall M, M0 <= M -> `|T M 0 c - R_1 0 c| <= delta].
Proof. exact @filtrations_masks.mask_limit. Qed.

Theorem AP3_all_masked :
  forall (F : numFieldType) (n m : nat) (e : F -> F) (kappa mu : 'M[F]_(n, m)),
  (forall x, 0 < e x) -> (forall i, 0 < \sum_j kappa i j * mu i j) ->
  forall (M : F) i l,
  e (- M) * kappa i l * mu i l / (\sum_j e (- M) * kappa i j * mu i j)
  = kappa i l * mu i l / (\sum_j kappa i j * mu i j).
Proof. exact @filtrations.all_masked. Qed.

Theorem AP3_empty :
  forall (F : fieldType) (n m d : nat) (kappa mu : 'M[F]_(n, m)) (v : 'I_m -> 'rV[F]_d)
    (Y : 'I_n -> 'rV[F]_d),
  mu = 0 ->
  forall i, (\sum_j kappa i j * mu i j) *: Y i = \sum_j (kappa i j * mu i j) *: v j.
Proof. exact @filtrations.empty. Qed.

Theorem AP3_renormalised :
  forall (F : numFieldType) (n m d : nat) (kappa mu V w w' : 'M[F]_(n, m))
    (v : 'I_m -> 'rV[F]_d),
  (forall i, 0 < \sum_j kappa i j * mu i j) ->
  (forall i, 0 < \sum_j kappa i j * (V i j * mu i j)) ->
  (forall i j, w i j = kappa i j * mu i j / (\sum_k kappa i k * mu i k)) ->
  (forall i j, w' i j = kappa i j * (V i j * mu i j) / (\sum_k kappa i k * (V i k * mu i k))) ->
  forall i,
  [/\ forall j, w' i j * (\sum_k V i k * w i k) = V i j * w i j,
      \sum_j V i j * w i j = 1 - \sum_j (1 - V i j) * w i j
    & \sum_j w' i j *: v j = (\sum_k V i k * w i k)^-1 *: \sum_j (V i j * w i j) *: v j].
Proof. exact @filtrations.renormalised. Qed.

Theorem AP3_alignment :
  (forall (n_q n_k i j : nat), (n_q <= n_k)%N -> (i < n_q)%N ->
     (j <= i + (n_k - n_q))%N = (j + (n_q - i.+1) < n_k)%N)
  /\ forall (F : numFieldType) (v : 'I_2 -> F), v 0 = 0 -> v 1 = 1 ->
     let mask (o : nat) (j : 'I_2) : F := (j <= 0 + o)%N%:R in
     ([/\ \sum_j mask (2 - 1)%N j * v j = 1, \sum_j mask (2 - 1)%N j = 2%:R
         & (\sum_j mask (2 - 1)%N j)^-1 * (\sum_j mask (2 - 1)%N j * v j) = 2%:R^-1])
     /\ [/\ \sum_j mask 0%N j * v j = 0, \sum_j mask 0%N j = 1
          & (\sum_j mask 0%N j)^-1 * (\sum_j mask 0%N j * v j) = 0].
Proof. exact @filtrations.alignment. Qed.

(* AP4. Linear attention is a pairing of finite rank. *)

Theorem AP4_reassociation :
  forall (F : fieldType) (n p m w : nat) (phi : 'M[F]_(n, m)) (psi : 'M[F]_(p, m))
    (V : 'M[F]_(p, w)) (mu : 'I_p -> F),
  let kappa := phi *m psi^T in
  let M := \sum_j mu j *: ((row j psi)^T *m row j V) in
  let z := \sum_j mu j *: (row j psi)^T in
  [/\ (phi *m psi^T) *m V = phi *m (psi^T *m V),
      forall i, \sum_j (mu j * kappa i j) *: row j V = row i (phi *m M)
    & forall i, \sum_j mu j * kappa i j = (phi *m z) i 0].
Proof. exact @linear_attention.reassociation. Qed.

Theorem AP4_moments :
  forall (F : fieldType) (n p p' m w : nat) (phi : 'M[F]_(n, m)) (psi : 'M[F]_(p, m))
    (psi' : 'M[F]_(p', m)) (mu : 'I_p -> F) (mu' : 'I_p' -> F) (v : 'I_p -> 'rV[F]_w)
    (v' : 'I_p' -> 'rV[F]_w),
  let kappa := phi *m psi^T in let kappa' := phi *m psi'^T in
  \sum_j mu j *: (row j psi)^T = \sum_j mu' j *: (row j psi')^T ->
  (forall i, \sum_j mu j * kappa i j = \sum_j mu' j * kappa' i j)
  /\ (\sum_j mu j *: ((row j psi)^T *m v j) = \sum_j mu' j *: ((row j psi')^T *m v' j) ->
      forall i, \sum_j (mu j * kappa i j) *: v j = \sum_j (mu' j * kappa' i j) *: v' j).
Proof. exact @linear_attention.moments. Qed.

Theorem AP4_counts :
  forall n p m w : nat,
  [/\ (\sum_(j < p) \sum_(a < m) \sum_(c < w) 1
       + \sum_(i < n) \sum_(a < m) \sum_(c < w) 1 + \sum_(i < n) \sum_(a < m) 1
       = (n + p) * m * w + n * m)%N,
      (\sum_(i < n) \sum_(j < p) \sum_(a < m) 1 + \sum_(i < n) \sum_(j < p) \sum_(c < w) 1
       = n * p * (m + w))%N
    & ((n * n * (m + w))%N%:R - ((n + n) * m * w + n * m)%N%:R
       = n%:R * ((n * (m + w))%N%:R - (2 * m * w)%N%:R - m%:R) :> int)%R].
Proof. exact @linear_attention.counts. Qed.

Theorem AP4_positivity :
  (forall (F : numFieldType) (n p m w : nat) (phi : 'M[F]_(n, m.+1)) (psi : 'M[F]_(p.+1, m.+1))
     (mu : 'I_p.+1 -> F) (v : 'I_p.+1 -> 'rV[F]_w),
   let kappa := phi *m psi^T in
   let M := \sum_j mu j *: ((row j psi)^T *m v j) in
   (forall i a, 0 < phi i a) -> (forall j a, 0 < psi j a) -> (forall j, 0 < mu j) ->
   forall i, 0 < \sum_j mu j * kappa i j
     /\ exists R : 'rV[F]_w, (\sum_j mu j * kappa i j) *: R = row i (phi *m M))
  /\ (forall (F : numFieldType) (q : 'rV[F]_2) (k : 'M[F]_2) (mu : 'I_2 -> F)
        (v : 'I_2 -> 'rV[F]_1),
      q 0 0 = 1 -> q 0 1 = 0 -> k 0 0 = 1 -> k 0 1 = 0 -> k 1 0 = -1 -> k 1 1 = 1 ->
      (forall j, mu j = 1) -> v 0 = const_mx 1 -> v 1 = 0 ->
      let kappa := q *m k^T in
      \sum_j mu j * kappa 0 j = 0 /\ \sum_j (mu j * kappa 0 j) *: v j != 0).
Proof. exact @linear_attention.positivity. Qed.

(* AP5. Recurrent networks: causal maps with a state of fixed size, and softmax, which has none. *)

Theorem AP5_handover :
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
Proof. exact @recurrences.handover. Qed.

Theorem AP5_decays :
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
Proof. exact @recurrences.decays. Qed.

Theorem AP5_decays__linear :
  forall (F : fieldType) (m w : nat) (phi : nat -> 'cV[F]_m) (v : nat -> 'rV[F]_w)
    (M : nat -> 'M[F]_(m, w)) (z : nat -> 'cV[F]_m),
  (forall t, M t.+1 = diag_mx (const_mx 1) *m M t + phi t *m v t) ->
  (forall t, z t.+1 = diag_mx (const_mx 1) *m z t + phi t *m 1%:M) ->
  forall t,
  [/\ M t = M 0%N + \sum_(j < t) phi j *m v j, z t = z 0%N + \sum_(j < t) phi j
    & forall q : 'cV[F]_m,
        q^T *m M t = q^T *m M 0%N + \sum_(j < t) (q^T *m phi j) 0 0 *: v j].
Proof. exact @recurrences.decays__linear. Qed.

Theorem AP5_delta_rule :
  forall (F : fieldType) (m w : nat) (M M' : 'M[F]_(m, w)) (beta : F) (k : 'cV[F]_m)
    (v : 'cV[F]_w),
  M' = M + beta *: (k *m (v - M^T *m k)^T) ->
  [/\ M' = (1%:M - beta *: (k *m k^T)) *m M + beta *: (k *m v^T),
      v - M'^T *m k = (1 - beta * (k^T *m k) 0 0) *: (v - M^T *m k)
    & forall k' : 'cV[F]_m,
        M'^T *m k' = M^T *m k' + (beta * (k^T *m k') 0 0) *: (v - M^T *m k)].
Proof. exact @recurrences.delta_rule. Qed.

Theorem AP5_overwriting :
  forall (F : fieldType) (m w : nat) (M M' : 'M[F]_(m, w)) (beta : F) (k : 'cV[F]_m)
    (v : 'cV[F]_w),
  M' = M + beta *: (k *m (v - M^T *m k)^T) ->
  [/\ beta * (k^T *m k) 0 0 = 1 -> M'^T *m k = v,
      forall t : 'rV[F]_w, (t *m (v - M^T *m k)) 0 0 = 1 ->
        (t *m (M'^T *m k - v)) 0 0 = 0 <-> beta * (k^T *m k) 0 0 = 1
    & M^T *m k <> v -> (M'^T *m k = v <-> beta * (k^T *m k) 0 0 = 1)].
Proof. exact @recurrences.overwriting. Qed.

(* AP6. Tensor attention is the readout of the product of two worlds. *)

Theorem AP6_finite_rank :
  forall (F : numFieldType) (n m m' r d : nat) (phi : 'M[F]_(n, r)) (psi : 'M[F]_(m, r))
    (chi : 'M[F]_(m', r)) (mu : 'M[F]_(n, m)) (mu' : 'M[F]_(n, m')) (v : 'M[F]_(m, d))
    (v' : 'M[F]_(m', d)) (E : 'I_n -> 'I_m -> 'I_m' -> F) (y : 'M[F]_(n, d)),
  (forall i j l, E i j l = \sum_g phi i g * psi j g * chi l g) ->
  let Z i := \sum_j \sum_l mu i j * mu' i l * E i j l in
  let total i b := \sum_j \sum_l mu i j * mu' i l * E i j l * (v j b * v' l b) in
  (forall i b, y i b = total i b / Z i) ->
  forall i,
  [/\ forall b, total i b = \sum_g phi i g * ((\sum_j mu i j * psi j g * v j b)
                                              * (\sum_l mu' i l * chi l g * v' l b)),
      Z i = \sum_g phi i g * ((\sum_j mu i j * psi j g) * (\sum_l mu' i l * chi l g))
    & 0 < Z i -> forall b, Z i * y i b = total i b].
Proof. exact @tensor_attention.finite_rank. Qed.

Theorem AP6_factor :
  forall (F : numFieldType) (n m m' d : nat) (f1 mu : 'M[F]_(n, m)) (f2 mu' : 'M[F]_(n, m'))
    (v : 'M[F]_(m, d)) (v' : 'M[F]_(m', d)) (E : 'I_n -> 'I_m -> 'I_m' -> F),
  (forall i j l, E i j l = f1 i j * f2 i l) ->
  let N1 i := \sum_j mu i j * f1 i j in let N2 i := \sum_l mu' i l * f2 i l in
  let Z i := \sum_j \sum_l mu i j * mu' i l * E i j l in
  forall i, 0 < N1 i -> 0 < N2 i ->
  [/\ Z i = N1 i * N2 i, 0 < Z i
    & forall b,
      (\sum_j \sum_l mu i j * mu' i l * E i j l * (v j b * v' l b)) / Z i
      = (\sum_j mu i j * f1 i j * v j b) / N1 i * ((\sum_l mu' i l * f2 i l * v' l b) / N2 i)].
Proof. exact @tensor_attention.factor. Qed.

Theorem AP6_product_world :
  forall (F : numFieldType) (n m m' d w : nat) (q : 'M[F]_(n, d)) (k : 'M[F]_(m, d))
    (k' : 'M[F]_(m', d)) (mu : 'M[F]_(n, m)) (mu' : 'M[F]_(n, m')) (v : 'M[F]_(m, w))
    (v' : 'M[F]_(m', w)) (E P : 'I_n -> 'I_m -> 'I_m' -> F) (y : 'M[F]_(n, w))
    (KR : 'M[F]_(m * m', d)) (VR : 'M[F]_(m * m', w)),
  let Z i := \sum_j \sum_l mu i j * mu' i l * E i j l in
  (forall i, 0 < Z i) -> (forall i j l, P i j l = mu i j * mu' i l * E i j l / Z i) ->
  (forall i b, y i b = \sum_j \sum_l P i j l * (v j b * v' l b)) ->
  (forall j l a, KR (mxvec_index j l) a = k j a * k' l a) ->
  (forall j l b, VR (mxvec_index j l) b = v j b * v' l b) ->
  [/\ forall i, \sum_j \sum_l P i j l = 1,
      (forall i j, 0 <= mu i j) -> (forall i l, 0 <= mu' i l) -> (forall i j l, 0 <= E i j l) ->
        forall i j l, 0 <= P i j l,
      forall i b, Z i * y i b = \sum_j \sum_l mu i j * mu' i l * E i j l * (v j b * v' l b),
      forall i j l, (q *m KR^T) i (mxvec_index j l) = \sum_a q i a * k j a * k' l a
    & forall i b, y i b = \sum_j \sum_l P i j l * VR (mxvec_index j l) b].
Proof. exact @tensor_attention.product_world. Qed.

Theorem AP6_prefix :
  forall (F : fieldType) (n m m' d : nat) (mu : 'M[F]_(n, m)) (mu' : 'M[F]_(n, m'))
    (E E' : 'I_n -> 'I_m -> 'I_m' -> F) (v w : 'M[F]_(m, d)) (v' w' : 'M[F]_(m', d)),
  let Z (K : 'I_n -> 'I_m -> 'I_m' -> F) i := \sum_j \sum_l mu i j * mu' i l * K i j l in
  let y (K : 'I_n -> 'I_m -> 'I_m' -> F) (s : 'M[F]_(m, d)) (t : 'M[F]_(m', d)) i b :=
    (\sum_j \sum_l mu i j * mu' i l * K i j l * (s j b * t l b)) / Z K i in
  (forall i : 'I_n,
     (forall j l, mu i j != 0 -> mu' i l != 0 ->
        E i j l = E' i j l /\ forall b, v j b = w j b /\ v' l b = w' l b) ->
     Z E i = Z E' i /\ forall b, y E v v' i b = y E' w w' i b)
  /\ (forall i : 'I_n,
       (forall j, mu i j = (j <= i)%N%:R) -> (forall l, mu' i l = (l <= i)%N%:R) ->
       (forall (j : 'I_m) (l : 'I_m'), (j <= i)%N -> (l <= i)%N ->
          E i j l = E' i j l /\ forall b, v j b = w j b /\ v' l b = w' l b) ->
       Z E i = Z E' i /\ forall b, y E v v' i b = y E' w w' i b)
  /\ (forall (psi s : nat -> F) (t : nat),
       \sum_(j < t.+1) psi j * s j = \sum_(j < t) psi j * s j + psi t * s t).
Proof. exact @tensor_attention.prefix. Qed.

(* AP9. Equivariance of readouts, and the convex hull of the values. *)

Theorem AP9_queries :
  forall (F : numFieldType) (n_A n m d : nat) (A : 'M[F]_(n_A, n)) (kappa mu : 'M[F]_(n, m))
    (v : 'I_m -> 'rV[F]_d) (N : 'cV[F]_n) (R : 'M[F]_(n, d)),
  (forall a, exists k, forall i, A a i = (i == k)%:R) ->
  (forall i, N i 0 = \sum_j kappa i j * mu i j) -> (forall i, 0 < N i 0) ->
  (forall i, row i R = (N i 0)^-1 *: \sum_j (kappa i j * mu i j) *: v j) ->
  let kappa_A := A *m kappa in let mu_A := A *m mu in
  let N_A a := \sum_j kappa_A a j * mu_A a j in
  forall a,
  [/\ N_A a = (A *m N) a 0, 0 < N_A a,
      N_A a *: row a (A *m R) = \sum_j (kappa_A a j * mu_A a j) *: v j
    & (N_A a)^-1 *: (\sum_j (kappa_A a j * mu_A a j) *: v j) = row a (A *m R)].
Proof. exact @equivariance.queries. Qed.

Theorem AP9_world :
  forall (F : numFieldType) (n m m' d : nat) (B : 'M[F]_(m', m)) (kappa mu : 'M[F]_(n, m))
    (kappa' mu' : 'M[F]_(n, m')) (v : 'I_m -> 'rV[F]_d) (v' : 'I_m' -> 'rV[F]_d),
  (forall p, exists k, forall j, B p j = (j == k)%:R) ->
  (forall i p, kappa' i p = \sum_j B p j * kappa i j) -> (forall p, v' p = \sum_j B p j *: v j) ->
  (forall i j, mu i j = \sum_p mu' i p * B p j) -> (forall i, 0 < \sum_j kappa i j * mu i j) ->
  let N i := \sum_j kappa i j * mu i j in let N' i := \sum_p kappa' i p * mu' i p in
  forall i,
  N' i = N i /\ (N' i)^-1 *: (\sum_p (kappa' i p * mu' i p) *: v' p)
                = (N i)^-1 *: (\sum_j (kappa i j * mu i j) *: v j).
Proof. exact @equivariance.world. Qed.

Theorem AP9_affine :
  forall (F : numFieldType) (n m d d_o : nat) (kappa mu w : 'M[F]_(n, m)) (v : 'I_m -> 'cV[F]_d)
    (T : 'M[F]_(d_o, d)) (c : 'cV[F]_d_o),
  (forall i, 0 < \sum_j kappa i j * mu i j) ->
  (forall i j, w i j = kappa i j * mu i j / (\sum_k kappa i k * mu i k)) ->
  forall i,
  \sum_j w i j = 1 /\ \sum_j w i j *: (T *m v j + c) = T *m (\sum_j w i j *: v j) + c.
Proof. exact @equivariance.affine. Qed.

Theorem AP9_hull :
  forall (F : numFieldType) (n m d : nat) (kappa mu w : 'M[F]_(n, m)) (v : 'I_m -> 'cV[F]_d),
  (forall i j, 0 <= kappa i j) -> (forall i j, 0 <= mu i j) ->
  (forall i, 0 < \sum_j kappa i j * mu i j) ->
  (forall i j, w i j = kappa i j * mu i j / (\sum_k kappa i k * mu i k)) ->
  forall i,
  [/\ forall j, 0 <= w i j, \sum_j w i j = 1
    & forall (g : 'rV[F]_d) (h : F),
        (forall j, (g *m v j) 0 0 <= h) -> (g *m (\sum_j w i j *: v j)) 0 0 <= h].
Proof. exact @equivariance.hull. Qed.

Theorem AP9_signed :
  forall (F : numFieldType) (phi : F) (psi v : 'I_2 -> F),
  phi = 1 -> psi 0 = 2%:R -> psi 1 = -1 -> v 0 = 0 -> v 1 = 1 ->
  let N := \sum_j phi * psi j in
  [/\ N = 1, 0 < N & N^-1 * (\sum_j phi * psi j * v j) = -1].
Proof. exact @equivariance.signed. Qed.

(* AP10. The readout is variational, and stable in the world. *)

Theorem AP10_least :
  forall (F : realFieldType) (m d : nat) (mu kappa : 'I_m -> F) (v : 'I_m -> 'rV[F]_d),
  let Z := \sum_j mu j * kappa j in
  let R := Z^-1 *: \sum_j (mu j * kappa j) *: v j in
  let square (x : 'rV[F]_d) := \sum_c x 0 c ^+ 2 in
  let energy t := \sum_j mu j * kappa j * square (t - v j) in
  0 < Z -> forall t,
  [/\ energy t = Z * square (t - R) + energy R, energy R <= energy t
    & energy t = energy R -> t = R].
Proof. exact @variational_readout.least. Qed.

Theorem AP10_stationary :
  forall (F : realFieldType) (m d : nat) (mu kappa : 'I_m -> F) (v : 'I_m -> 'rV[F]_d),
  let Z := \sum_j mu j * kappa j in
  let R := Z^-1 *: \sum_j (mu j * kappa j) *: v j in
  let energy (t : 'rV[F]_d) := \sum_j mu j * kappa j * (\sum_c (t - v j) 0 c ^+ 2) in
  let slope t := \sum_j (mu j * kappa j) *: (t - v j) in
  let along (t w : 'rV[F]_d) := 2%:R * (\sum_c w 0 c * slope t 0 c) in
  [/\ forall t w tau,
        energy (t + tau *: w)
        = energy t + tau * along t w + tau ^+ 2 * (Z * (\sum_c w 0 c ^+ 2)),
      0 < Z -> forall t, slope t = 0 <-> t = R
    & 0 < Z -> forall t, (forall w, along t w = 0) <-> t = R].
Proof. exact @variational_readout.stationary. Qed.
