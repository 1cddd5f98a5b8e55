"""AP5. Recurrent networks: causal maps with a state of fixed size, and softmax, which has none."""

from __future__ import annotations

from dataclasses import replace

from sympy import Integer, Sum, Symbol

from theorems.assumptions.entries import right_inverse
from theorems.attention_pairings.steps import corner as free
from theorems.attention_pairings.steps import linear_recurrence as time
from theorems.attention_pairings.steps import padded_states as among
from theorems.attention_pairings.steps import softmax_states as softmax
from theorems.attention_pairings.steps import state_space as state
from theorems.attention_pairings.steps import vandermonde as powers
from theorems.statement import Clause, Definition, Mutant, Theorem

a, c, j, i = time.a, time.c, time.j, time.i
small = Symbol("delta", real=True)

THEOREM = Theorem(
    id="AP5",
    title="Recurrent networks: causal maps with a state of fixed size, and softmax, which has none",
    clauses=(
        Clause("handover", r"Let $M_t = A_t M_{t-1} + k_t v_t^\top$ with any $m \times m$ matrices "
               r"$A_t$, and let $M_0$ be the state handed over at a split. Then $M_t = \Gamma_t "
               r"M_0 + \sum_j C_{t,j} v_j^\top$ over the tokens since the split, where $\Gamma_t "
               r"= A_t \Gamma_{t-1}$, $C_t = A_t C_{t-1} + k_t e_t^\top$, and outputs $M_t^\top "
               r"q$ are $M_0^\top \Gamma_t^\top q + \sum_j \langle q, C_{t,j} \rangle v_j$: "
               r"recurrent, chunked and, for $M_0 = 0$, parallel forms agree wherever the splits "
               r"are.", time.TIME),
        Clause("decays", r"For $M_t = \mathrm{diag}(g_t) M_{t-1} + \phi(k_t) v_t^\top$ the state "
               r"is $\mathrm{diag}(\gamma_t) M_0 + \sum_j \mathrm{diag}(\omega_{t,j}) \phi(k_j) "
               r"v_j^\top$, with $\gamma_t = g_t \gamma_{t-1}$, $\omega_{t,j} = g_t "
               r"\omega_{t-1,j}$ for earlier tokens and $\omega_{t,t} = 1$; outputs are scores "
               r"$\sum_a q_a \omega_{t,j,a} \phi(k_j)_a$ times values. $g = 1$ is causal linear "
               r"attention, with $z_t$ for the values $1$; one decay for all features multiplies "
               r"the scores. $g_t = 0$ is a reset: nothing of $M_{t-1}$ is left.", time.DECAYS),
        Clause("delta_rule", r"The delta rule $M_t = M_{t-1} + \beta k (v - M_{t-1}^\top k)^\top$ "
               r"is $M_t = (I - \beta k k^\top) M_{t-1} + \beta k v^\top$. It leaves $v - M_t^\top "
               r"k = (1 - \beta |k|^2)(v - M_{t-1}^\top k)$, and another key $k'$ reads $\beta "
               r"\langle k, k' \rangle (v - M_{t-1}^\top k)$ more than before.",
               time.DELTA_RULE[:3]),
        Clause("overwriting", r"If $\beta |k|^2 = 1$, then $M_t^\top k = v$. If $M_{t-1}^\top k "
               r"\ne v$, say $t \cdot (v - M_{t-1}^\top k) = 1$, then $t \cdot (M_t^\top k - v) = "
               r"0$ iff $\beta |k|^2 = 1$: the delta rule overwrites exactly iff $\beta |k|^2 = "
               r"1$.", time.DELTA_RULE[3:]),
        Clause("blocks", r"If $y_t = c_t^\top h_t$, $h_t = A_t h_{t-1} + b_t x_t$ with $m$ numbers "
               r"$h_t$ and any $A_t$, then the block of rows $\ge t$ and columns $\le t$ of its "
               r"lower-triangular matrix $L$ has rank at most that of the $m$ rows of states $C$ "
               r"at time $t$, for every $t$; if states are read before the update, $y_t = c_t^\top "
               r"h_{t-1} + D_t x_t$, the same holds for rows $\ge t$ and columns $< t$. The rank "
               r"of a matrix is the least inner width of its factorisations.", state.NECESSARY),
        Clause("realisation", r"Conversely let the blocks of rows $\ge t$ and columns $\le t$ have "
               r"factors $O_t F_t$ of width $m_t$ and let $U_t O_t = I$. Then $A_{t+1} = U_{t+1} "
               r"O_t$ without row $t$, $b_{t+1}$ the last column of $F_{t+1}$ and $c_t$ the first "
               r"row of $O_t$ have the states $h_t = F_t x$ of $m_t$ numbers and the outputs $L "
               r"x$, for every lower-triangular $L$. With columns $< t$ the same factors and $D_t "
               r"= L_{tt}$ give $y_t = c_t^\top h_{t-1} + D_t x_t$.",
               (*state.SUFFICIENT, state.outputs_before)),
        Clause("padding", r"If the columns of $O$ are dependent, $O z = 0$ and $e \cdot z = 1$, "
               r"then $O F' = O F$ for $F' = F - z e^\top F$ and $e^\top F' = 0$: for a "
               r"coordinate vector $e$ the product has factors of one column and row less. So "
               r"factors of least width, the rank, have independent columns, which is what $U_t "
               r"O_t = I$ needs. With $J_t^\top J_t = I$, such as zeros below $m_t \le w$ "
               r"numbers, $A'_{t+1} = J_{t+1} A_{t+1} J_t^\top$, $b'_{t+1} = J_{t+1} b_{t+1}$ and "
               r"$c'_t = J_t c_t$ have the states $h'_t = J_t h_t$ of $w$ numbers and the same "
               r"outputs. By the two clauses before, $w$ numbers suffice for $y_t = c_t^\top h_t$ "
               r"iff all blocks of rows $\ge t$ and columns $\le t$ have rank at most $w$, and "
               r"for $y_t = c_t^\top h_{t-1} + D_t x_t$ iff all those of columns $< t$ have.",
               among.STEPS),
        Clause("corner", r"With $y_t = c_t^\top h_t + D_t x_t$ the entry $s = L_{tt} - D_t$ of the "
               r"block of rows $\ge t$ and columns $\le t$ is free. Let $B$ be its part of rows "
               r"$> t$, columns $< t$, of rank $r$, with the row $a$ above and the column $c$ "
               r"beside it. If $a = u^\top B$, some $s$ leaves the rank of $(B, c)$; if $c = B y$, "
               r"that of $B$ below $a$; if neither, the rank is at least $r + 2$ for every $s$, "
               r"the most that one more row and one more column allow. So the least rank is "
               r"$\mathrm{rank}\, L_{\ge t, < t} + \mathrm{rank}\, L_{> t, \le t} - "
               r"\mathrm{rank}\, L_{> t, < t}$. Each $D_t$ frees one block alone, so by the "
               r"clause before, for $L - \mathrm{diag}(D)$, $w$ numbers suffice iff this is at "
               r"most $w$ for every $t$.",
               (free.corner_by_row, free.corner_by_column, free.corner_outside, *free.widths)),
        Clause("separation", r"$L = (1, 0, 0; 1, 1, 0; 1, 0, 1)$ has one state if it is read "
               r"before the update, and a block of rank $2$ if after. $L = (1, 0, 0; 1, 1, 0; 0, "
               r"1, 1)$ has one state if read before the update, but none of one number with "
               r"$y_t = c_t h_t + D_t x_t$, where $L_{21} L_{32} = c_2 b_2 L_{31}$.",
               (free.separates, free.strict_blocks, free.strict_blocks_mislead)),
        Clause("identity_state", r"With one number and $A_t = 1$ (a mask on $Q K^\top$) $L_{11} "
               r"L_{22} = c_1 b_2 L_{21}$, which excludes $L = I_2$; $A_2 = 0$ gives it.",
               (free.identity_state, free.diagonal)),
        Clause("vandermonde", r"A Vandermonde matrix $V_{ps} = x_p^s$ that has an inverse, such as "
               r"the one of a single node, and a further node $y$ that is none of the $x_p$ make "
               r"one that has an inverse, with one more exponent: so has every one of pairwise "
               r"distinct nodes, such as $2^{ij}$ with nodes $2^i$.", powers.STEPS),
        Clause("softmax", r"Let $d = 1$, let the queries be pairwise distinct and the keys in "
               r"equal steps $\eta \ne 0$: $\exp(q_i k_j)$ is multiplied by $x_i = \exp(q_i \eta)$ "
               r"from key to key, so any $r$ rows and $r$ consecutive columns are row scales times "
               r"a Vandermonde matrix $V$, which has an inverse. If weights $\rho_i V_{ij}$ with "
               r"$\rho_i \ne 0$ factor through $m$ numbers, $I_r$ has rank at most that of these "
               r"$m$ rows: $r \le m$. For $n = 2 s - 1$ and $t = s$ there are $s$ rows $\ge t$, "
               r"$s$ columns $\le t$ and $s - 1$ columns $< t$; for $n = 2 s$ and $t = s + 1$ "
               r"there are $s$ rows, $s + 1$ columns $\le t$ and $s$ columns $< t$. So causal "
               r"softmax attention on $n$ tokens needs at least $n / 2$ numbers, rounded up, or "
               r"down if states are read before the update: no recurrence with a state of fixed "
               r"size gives it for all $n$.",
               (softmax.equal_steps, softmax.equally_spaced, softmax.middle_after,
                softmax.middle_before)),
        Clause("distinct_keys", r"The same for $r$ rows and columns of $\exp(q_i k_j)$ with "
               r"pairwise distinct queries and pairwise distinct keys: the matrix has an inverse, "
               r"and $\rho_i \exp(q_i k_j)$ with $\rho_i \ne 0$ needs $m \ge r$ numbers.",
               (softmax.positivity, softmax.distinct)),
    ),
    mutants=(
        Mutant("not_carried", time.next_handover, "the state handed over stays as it is",
               redefine=(Definition(time.next_carry.entry, time.Gamma["l"][a, c]),)),
        Mutant("nothing_handed_over", replace(time.chunk_output, rhs=Sum(
            Sum(time.query[a] * time.C["l"][a, j], (a, 1, time.m)) * time.values[j, c],
            time.TOKENS)), "a chunk starts from nothing"),
        Mutant("new_token_decays", time.next_decay, "the decay acts on the token that enters",
               redefine=(Definition(time.decay_product.entry, time.decay[a] * (
                   time.decayed["l"][j, a] + time.enters[j])),)),
        Mutant("decay_once", time.next_decay, "a token decays once only", redefine=(
            Definition(time.decay_product.entry, time.decayed["l"][j, a] + time.enters[j]),)),
        Mutant("almost_a_reset", time.reset, "a small decay is a reset",
               redefine=(Definition(time.decay[a], small),)),
        Mutant("delta_adds", replace(time.linear_delta, rhs=time.before[a, c]
               + time.beta * time.delta_key[a] * time.new_value[c]), "the delta rule only adds"),
        Mutant("other_keys_keep", replace(time.others_keep, rhs=time.read(
            time.before, time.other)), "every other key reads what it read before"),
        Mutant("any_beta", time.overwritten, "the delta rule overwrites, whatever beta is",
               drop=(time.exact_length,)),
        Mutant("right_already", time.overwrites, "the same where nothing was wrong",
               drop=(time.something_wrong,)),
        Mutant("no_input", state.next_state, "b = 0",
               redefine=(Definition(state.b_next[a], Integer(0)),)),
        Mutant("any_factors", state.next_state, "factors without a left inverse",
               drop=(state.left_inverse,)),
        Mutant("padded_anyhow", among.padded_output, "any matrix pads the states",
               drop=(among.embeds_l,)),
        Mutant("independent_columns", among.same_product, "columns may be dropped anyhow",
               drop=(among.dependent,)),
        Mutant("no_feed_through", replace(state.outputs_before, lhs=state.output),
               "states read before the update need no D"),
        Mutant("sees_the_future", state.outputs_after, "L need not be lower triangular",
               drop=(state.causal,)),
        Mutant("corner_zero", free.corner_by_row, "the corner 0 is as good as any",
               redefine=(Definition(free.s, Integer(0)),)),
        Mutant("row_need_not_be_outside", free.corner_outside,
               "the rank is $r + 2$ if only the column is outside", drop=(free.row_outside,)),
        Mutant("decaying_state", free.identity_state, "the same with any $A_2$", redefine=(
            Definition(free.entries["L_{21}"], free.c2 * free.A2 * free.b1),)),
        Mutant("free_A_2", free.strict_blocks_mislead, "the same with $L_{31} = c_3 A_3 b_1$",
               redefine=(Definition(free.entries["L_{31}"], free.e3 * free.A3 * free.b1),)),
        Mutant("repeated_node", powers.next_inverse, "the new node may be one of the others",
               drop=(powers.other_node,)),
        Mutant("repeated_query", softmax.equally_spaced, "queries may repeat",
               drop=(right_inverse(softmax.V, softmax.W),)),
        Mutant("repeated_key", softmax.distinct, "keys may repeat",
               drop=(right_inverse(softmax.E, softmax.W),)),
        Mutant("one_row_less", replace(softmax.middle_after, lhs=softmax.odd - softmax.at),
               "rows $t, \\ldots, n$ are $n - t$"),
    ),
    sources=(
        "A. Katharopoulos et al., Transformers are RNNs, ICML 2020",
        "T. Dao, A. Gu, Transformers are SSMs, ICML 2024",
        "S. Karlin, Total Positivity, Stanford University Press, 1968",
    ),
)
