"""CW10. Holonomy of a connection walk.

Nothing is cited: a tree gauge and an induction along walks replace the fact that fundamental
cycles generate the closed walks.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Integer, Sum

from theorems.assumptions.entries import right_inverse, signed
from theorems.connection_walks.steps import flat_connections as flat
from theorems.connection_walks.steps import parallel_kernel as kept
from theorems.connection_walks.steps.cycle_basis import insufficient_basis
from theorems.connection_walks.steps.harmonic import (
    acyclic, harmonic_function, involution, triangles,
)
from theorems.assumptions.sections import parallel_sections
from theorems.statement import Clause, Definition, Mutant, Step, Theorem, array, symbols_of

i, j, k, l, a, b, c = symbols_of("i j k l a b c")
four, three, one = Integer(4), Integer(3), Integer(1)

E_4, T_4 = array("E'", four, four), array("T'", four, four)
square = E_4[i, j] * E_4[j, k] * E_4[k, l] * E_4[l, i]
E_3, B_3 = array("E_3", three, three), array("B_3", three, three)
T_3 = array("T_3", three, three, one, one)
g_3, g_3_inv = array("g_3", three, one, one), array("g_3^{-1}", three, one, one)
f = array("f", flat.n)

THEOREM = Theorem(
    id="CW10",
    title="Holonomy of a connection walk",
    clauses=(
        Clause("fundamental_cycles", r"Let $T_{ij} T_{ji} = I$ on the edges and let invertible "
               r"$g_i$ have $T_{ij} g_j = g_i$ on a set $B$ of edges, such as a spanning tree, "
               r"where $g_i$ is the product of the transports from the root to $i$. The holonomy "
               r"$h_{ij} = g_i^{-1} T_{ij} g_j$ of the fundamental cycle of an edge, self-loops "
               r"included, is $I$ on $B$, and $h_{ij} h_{ji} = I$. $T_{ij} = g_i g_j^{-1}$ on all "
               r"edges iff $h_{ij} = I$ on all edges; then $T_{ij} g_j = g_i$ on all of them. Only "
               r"$h_{ij} h_{ji} = I$ uses $T_{ji}$: edges may be directed for the rest.",
               (flat.tree_edges, flat.backwards, flat.restored, flat.gauge_exists,
                flat.no_holonomy, flat.frames_parallel)),
        Clause("closed_walks", r"Along a walk whose edges have $u_i = T_{ij} u_j$ the product of "
               r"the transports carries $u$ from the end to the start, whatever its length; if it "
               r"is closed, it fixes $u$ there, and it is $I$ if the columns of $u$ are "
               r"invertible frames.",
               (flat.first_edge, flat.next_edge, flat.walks_carry, flat.returns, flat.closed_fixes,
                flat.unframed, flat.around_again, flat.closed_flat)),
        Clause("complete_graph", r"On the complete graph with $T_{ij} T_{ji} = I$: if the "
               r"triangles $T_{io} T_{oj} T_{ji} = I$ through one node $o$ are flat, then "
               r"$T_{ij} = T_{io} T_{oj}$.", (flat.closed_up, flat.through_root)),
        Clause("spectrum", r"If $T_{ij} = g_i g_j^{-1}$ on edges, $g_i$ invertible, then $W g = g "
               r"(P \otimes I)$, $W^l = g (P^l \otimes I) g^{-1}$ and $\mathrm{tr}\, W^l = d\, "
               r"\mathrm{tr}\, P^l$ for every $l$, and $P v = \lambda v$ gives $W y = \lambda y$ "
               r"with $y_i = v_i g_i x$ for every $x$.",
               (flat.conjugate, flat.first_power, flat.next_power, flat.powers, flat.traces,
                flat.eigenvectors)),
        Clause("kernel", r"Let $P \ge 0$ have rows of sum 1 and a stationary $\pi > 0$, let "
               r"$T_{ij}^\top G_i T_{ij} = G_j$ on edges ($P_{ij} \ne 0$), $G_i = F_i^\top F_i$, "
               r"$F_i$ invertible. Then $W u = u$ gives $u_i = T_{ij} u_j$ on edges. For "
               r"invertible $g_i$ with $T_{ij} = g_i g_j^{-1}$ on a set $B$ of edges, $g_i^{-1} "
               r"u_i$ then agrees along $B$: if $B$ is a spanning tree, $u_i = g_i w$. For such "
               r"$u$, $u_i = T_{ij} u_j$ on edges iff $h_{ij} w = w$ on edges; then $W u = u$ if "
               r"rows of $P$ sum to 1, and $w = g_i^{-1} u_i$ at any node: $\dim \ker (I - W)$ is "
               r"that of the space of $w$ that all $h_{ij}$ fix. If $d$ independent vectors are "
               r"fixed, $h_{ij} = I$ on edges: it is $d$ iff all $h_{ij}$ are $I$.",
               (kept.no_energy, kept.each_edge, kept.unweighted, kept.unframed_edge, kept.kernel,
                kept.along_tree, kept.same_coordinates, kept.fixed_sections, kept.in_kernel,
                kept.coordinates, kept.fixed_by_cycles, kept.all_fixed)),
        Clause("constant_transport", r"For constant $T$, where a closed walk of length $l$ has "
               r"the holonomy $T^l$: $T^p = T^q = I$ gives $T^{p-q} = I$, the step of Euclid's "
               r"algorithm to the greatest common divisor $k$ of the lengths, and $T^k = I$ gives "
               r"$T^{kl} = I$ for every $l$.",
               (kept.shortened, kept.gcd, kept.first_multiple, kept.next_multiple,
                kept.multiples)),
        Clause("cheeger", r"Let $\phi_{kq}$ be an orthonormal basis for $\langle u, v \rangle = "
               r"\sum_i \pi_i u_i^\top G_i v_i$ and $L = \sum_{kq} \lambda_{kq} \phi_{kq} "
               r"\phi_{kq}^*$ with all $\lambda_{kq} \ge \lambda_1$. Then $\lambda_1 \langle z, "
               r"z \rangle \le \langle z, L z \rangle$; and $\langle z, z \rangle = 1$ if "
               r"$|z_i|_{G_i} = 1$ for all $i$ and $\sum_i \pi_i = 1$.",
               (kept.parseval, kept.diagonal, kept.cheeger, kept.length_one)),
        Clause("cycle_bases", r"On the wheel $W_4$ with $T_{ij} T_{ji} = I$ four cycles that are "
               r"independent modulo 2 and over $\mathbb{Q}$ may all have holonomy $I$ while a "
               r"triangle has not, with isometries for one metric.", (insufficient_basis,)),
    ),
    mutants=(
        Mutant("walk_backwards", flat.next_edge, "transports multiply in the other order",
               redefine=(Definition(flat.X_next[a, b], Sum(
                   flat.Y_l[a, c] * flat.X_l[c, b], (c, 1, flat.d))),)),
        Mutant("one_way_triangles", flat.closed_up, "T_ij and T_ji need not be inverse",
               drop=(flat.mutual_all,)),
        Mutant("triangles_suffice", Step(
            id="through_root", lhs=square * T_4[i, j] * T_4[j, k] * T_4[k, l] * T_4[l, i],
            rhs=square, by=(triangles(E_4, T_4),), because="claimed"),
            "flat triangles suffice on every graph; the square has none"),
        Mutant("acyclic", Step(
            id="gauge_exists", lhs=E_3[i, j] * T_3[i, j, a, b],
            rhs=E_3[i, j] * Sum(g_3[i, a, c] * g_3_inv[j, c, b], (c, 1, one)), because="claimed",
            by=(right_inverse(g_3, g_3_inv), acyclic(E_3, B_3),
                parallel_sections(B_3[i, j], T_3, g_3))),
            "closed directed walks suffice without strong connection"),
        Mutant("flat_is_trivial", replace(
            kept.gcd, lhs=kept.B_T[a, b], by=(involution(kept.B_T),)),
            "a constant transport is flat only if T = I"),
        Mutant("any_graph", Step(
            id="kernel", lhs=f[i], rhs=f[j], by=(kept.chain, harmonic_function(flat.P, f)),
            because="claimed"), "the kernel has dimension d without connection"),
        Mutant("kernel_is_d", kept.fixed_sections, "every w in R^d gives a section of the kernel",
               drop=(kept.fixed_w,)),
        Mutant("killed_walk", kept.in_kernel, "parallel sections are harmonic for every P >= 0",
               drop=(kept.stochastic,), add=(signed(flat.P, ">=0"),)),
        Mutant("one_way_transports", flat.backwards, "T_ji need not be the inverse of T_ij",
               drop=(flat.mutual_edges,)),
        Mutant("one_copy", replace(flat.traces, rhs=Sum(flat.P_l[i, i], (i, 1, flat.n))),
               "W has the spectrum of P once"),
        Mutant("any_eigenvalue", kept.cheeger, "lambda_1 need not be the smallest",
               drop=(kept.smallest,)),
    ),
    sources=(
        "From Self-Attention to Connection Laplacian: A Unified Operator View of Transformers",
        "A. S. Bandeira, A. Singer, D. A. Spielman, A Cheeger inequality for the graph connection "
        "Laplacian, SIAM J. Matrix Anal. Appl. 34 (2013)",
    ),
)
