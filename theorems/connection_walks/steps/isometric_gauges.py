"""Hypotheses on edge gauges P'_ij T'_ij = W_ij of the walk of isometric heads, with metrics
G'_i = (K_i K_i^T)^{-1}; p^h = A^h / H are the heads' shares of P.

They are constructed together, since they leave the heads little freedom, as CW7 says: O_h = l_h B
with B = F^{-1} R F, and K_i = k_i F^{-1} C, where R is orthogonal, R C C^T R^T = C C^T, |C|_F = 1.
"""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq, fmpq_mpoly
from sympy import Integer, KroneckerDelta, Rational, Sum

from theorems.assumptions import metrics
from theorems.assumptions.entries import right_inverse, signed, sums_to_one
from theorems.connection_walks.steps import isometric_heads
from theorems.connection_walks.steps.isometric_heads import (
    F, F_inv, H, O, O_0, a, b, c, d, diagonal, difference, e, h, has, i, invertible_frame, j, k,
    known, n, pair_gap, put, rotation, scaled, searching,
)
from theorems.assumptions.constructions import unit_vector
from theorems.checker.exact import Draw, Generators, Rows, Value, times
from theorems.rules import Vanishing
from theorems.statement import Bound, Definition, Iff, Local, Step, array

share, P, W = array("p", H, n, n), array("P", n, n), array("W", n, n, d, d)
P2, T2, pi = array("P'", n, n), array("T'", n, n, d, d), array("pi", n)
K, K_inv, s = array("K", n, d, d), array("K^{-1}", n, d, d), array("s", n)


class _Gauge:
    """All arrays of a gauge, with regard to the hypotheses that the instance is to have.

    Equal factors l_h and lengths k_i satisfy all of them; without one of them, others do as well.
    """

    def __init__(self, draw: Draw) -> None:
        self.draw, self.nodes = draw, range(1, draw.size(n) + 1)
        self.lawful = has(draw, stationary, positive_law)
        isometric_gauge = has(draw, blocks, transported)
        self.fixed = isometric_gauge or has(draw, blocks, same_walk)
        self.scaled_rows = not self.lawful and isometric_gauge and has(draw, rows)
        rigid = self.lawful and isometric_gauge and has(draw, rows)
        self.turn, self.spread, self.spread_inverse = _turn(draw)
        metric = any(has(draw, item) for item in (inverse, isometric, norm_in_gauge))
        plain = diagonal(draw.size(d) * [1])
        self.frame, self.frame_inverse = invertible_frame(draw) if metric else (plain, plain)
        put(draw, F, (), self.frame)
        if has(draw, inverse):
            put(draw, F_inv, (), self.frame_inverse)
        self.isometry = times(times(self.frame_inverse, self.turn), self.frame)
        self.factors = self._factors(rigid or has(draw, same_heads))
        lengths = [draw.source.fresh(">0") for _ in self.nodes]
        self.lengths = len(lengths) * lengths[:1] if has(draw, same_walk) else lengths

    def _factors(self, equal: bool) -> list[Value]:
        heads = range(self.draw.size(H))
        if equal:
            return [1 for _ in heads]
        if has(self.draw, isometric):
            return [self.draw.source.rng.choice((1, -1)) for _ in heads]
        return [self.draw.source.fresh(None) for _ in heads]

    def heads(self) -> None:
        for head, factor in enumerate(self.factors, start=1):
            put(self.draw, O, (head,), scaled(factor, self.isometry))
        if has(self.draw, same_heads):
            put(self.draw, O_0, (), self.isometry)

    def metrics(self) -> None:
        """K_i, its inverse and |F K_i|_F = k_i, of either sign unless it is to be positive."""
        for node, length in zip(self.nodes, self.lengths, strict=True):
            put(self.draw, K, (node,), scaled(length, times(self.frame_inverse, self.spread)))
            if has(self.draw, frames):
                back = scaled(self.draw.source.inverse(length), self.spread_inverse)
                put(self.draw, K_inv, (node,), times(back, self.frame))
            if has(self.draw, norm_in_gauge):
                sign = 1 if has(self.draw, positive_norm) else self.draw.source.rng.choice((1, -1))
                self.draw.put(s, (node,), sign * length)

    def weights(self) -> list[dict[tuple[int, ...], Value]]:
        """Flows in balance where pi is stationary, and any weights otherwise, head by head."""
        draw, sign = self.draw, self.draw.signs.get(share.name)
        parts = [{cell: draw.source.fresh(sign) for cell in draw.cells(P2)} for _ in self.factors]
        if sign is None and searching(draw, 4):
            parts = [dict.fromkeys(part, 0) for part in parts]
        for head, part in enumerate(parts):
            if self.lawful:
                part.update({(k, m): part[m, k] for k, m in part if k > m})
                circle = draw.source.fresh(sign)
                for k in self.nodes:
                    part[k, k % len(self.nodes) + 1] += circle
            elif has(draw, stationary):  # node 1 absorbs, under its first head
                part.update({(1, m): int(head == 0 and m == 1) for m in self.nodes})
        return parts

    def gauge(self) -> None:
        """p, pi, P' and T', with rows scaled so that pi P = pi or those of P' sum to 1."""
        draw, parts, inverse_of = self.draw, self.weights(), self.draw.source.inverse
        law = [sum(part[k, m] for part in parts for m in self.nodes) for k in self.nodes]
        back = [inverse_of(length) for length in self.lengths]
        if self.lawful:  # a similarity: p_ij k_j / k_i has rows of sum 1 and the law pi_i k_i
            for part in parts:
                part.update({(k, m): x * self.lengths[k - 1] * back[m - 1]
                             for (k, m), x in part.items()})
        if has(draw, stationary):
            for k in self.nodes:
                draw.put(pi, (k,), law[k - 1] * back[k - 1] if self.lawful else int(k == 1))
        if not self.fixed:
            sums_to_one(P2).impose(draw)  # pyright: ignore[reportOptionalCall]
        for k in self.nodes:
            mixed = [sum(x * part[k, m] for x, part in zip(self.factors, parts, strict=True))
                     for m in self.nodes]
            plain = has(draw, same_walk)
            signs = [1 if plain or isinstance(x, fmpq_mpoly) or x >= 0 else -1 for x in mixed]
            own = [x * y * z * back[k - 1]
                   for x, y, z in zip(mixed, signs, self.lengths, strict=True)]
            scale = inverse_of(law[k - 1]) if self.lawful else \
                inverse_of(sum(own)) if self.scaled_rows else 1
            for m in self.nodes:
                for head, part in enumerate(parts, start=1):
                    draw.put(share, (head, k, m), scale * part[k, m])
                turned = scaled(signs[m - 1] * self.lengths[k - 1] * back[m - 1], self.isometry)
                block = scaled(scale * mixed[m - 1], self.isometry)
                self._edge((k, m), scale * own[m - 1], turned, block)

    def _edge(self, cell: tuple[int, ...], weight: Value, turned: Rows, block: Rows) -> None:
        draw = self.draw
        if self.fixed:
            draw.put(P2, cell, weight)
        elif has(draw, blocks):
            turned = scaled(draw.source.inverse(draw.get(P2.name, cell)), block)
        put(draw, T2, cell, turned)
        if W.name not in draw.definitions:
            put(draw, W, cell, block)
        if P.name not in draw.definitions:
            heads = range(1, draw.size(H) + 1)
            draw.put(P, cell, sum(draw.get(share.name, (head, *cell)) for head in heads))


def _turn(draw: Draw) -> tuple[Rows, Rows, Rows]:
    """R, C and C^{-1}."""
    size = draw.size(d)
    if size == 2:  # C C^T = I / 2: any R will do
        half = fmpq(1, 2)
        return rotation(draw), [[half, half], [half, -half]], [[1, 1], [1, -1]]
    third = fmpq(1, 3)
    simple = size == 3 and isinstance(draw.source, Generators)
    entries = [third, 2 * third, 2 * third] if simple else unit_vector(draw, size)
    inverses = [draw.source.inverse(x) for x in entries] if has(draw, frames) else entries
    return diagonal(draw.source.rng.choices((1, -1), k=size)), diagonal(entries), diagonal(inverses)


def choose(draw: Draw) -> None:
    """Construct a gauge once."""
    if not known(draw, share):
        gauge = _Gauge(draw)
        gauge.heads()
        if any(has(draw, item) for item in (frames, norm_in_gauge, transported)):
            gauge.metrics()
        gauge.gauge()


carried = array("X", n, n, d, d)
carried_frame = Definition(carried[i, j, a, b], Sum(T2[i, j, a, e] * K[j, e, b], (e, 1, d)))
blocks = Local("W = P' T'", r"$P'_{ij} T'_{ij} = W_{ij}$",
               ((W[i, j, a, b], P2[i, j] * T2[i, j, a, b]),), choose)
transported = Local(
    "T' is isometric for M", r"(c) where $P'_{ij} \ne 0$: $T'^\top_{ij} G'_i T'_{ij} = G'_j$, that "
    r"is $T'_{ij} M_j T'^\top_{ij} = M_i$ for $M_i = G'^{-1}_i = K_i K_i^\top$",
    ((P2[i, j] * Sum(carried[i, j, a, b] * carried[i, j, c, b], (b, 1, d)),
      P2[i, j] * Sum(K[i, a, b] * K[i, c, b], (b, 1, d))),), choose)
norm_in_gauge = Local(
    "s is the norm of F K", r"$s_i^2 = \lVert F K_i \rVert_F^2$, that is $s_i^2 = "
    r"\mathrm{tr}(G M_i)$",
    ((s[i] ** 2, Sum(Sum(F[a, c] * K[i, c, b], (c, 1, d)) ** 2, (a, 1, d), (b, 1, d))),), choose)
rows = replace(sums_to_one(P2), text=r"(a) rows of $P'$ sum to 1", impose=choose)
stationary = replace(metrics.stationary(pi, P), id="pi P = pi", impose=choose)
frames = replace(right_inverse(K, K_inv), text=r"$K_i$ is invertible", impose=choose)
isometric = replace(isometric_heads.heads_isometric, impose=choose)
inverse = replace(isometric_heads.inverse, impose=choose)
same_heads = Local("O = O_0", r"$O_h = O_0$ for every head $h$", ((O[h, a, b], O_0[a, b]),),
                   choose)
law_total = replace(sums_to_one(pi), impose=choose)
same_walk = Local("P' = P", r"$P' = P$", ((P2[i, j], P[i, j]),), choose)
positive_norm, positive_law = signed(s, ">0"), signed(pi, ">0")
shares, full = signed(share, ">=0"), signed(share, ">0")

deviation, loss = array("D", H, H, n, d, d), array("epsilon", n, n)
total_share = Definition(P[i, j], Sum(share[h, i, j], (h, 1, H)))
block = Definition(W[i, j, a, b], Sum(share[h, i, j] * O[h, a, b], (h, 1, H)))
seen_by = Definition(deviation[h, k, j, a, b],
                     Sum(F[a, c] * Sum(difference[h, k, c, e] * K[j, e, b], (e, 1, d)), (c, 1, d)))
lost = Definition(loss[i, j], P[i, j] * s[j] - P2[i, j] * s[i])
moved_frame, seen_back = array("Y", n, n, d, d), array("Z", H, H, n, d, d)
block_of_frame = Definition(moved_frame[i, j, a, b], Sum(W[i, j, a, e] * K[j, e, b], (e, 1, d)))
frame_moved = Step(
    id="frame_moved", lhs=moved_frame[i, j, a, b], rhs=P2[i, j] * carried[i, j, a, b],
    by=(block_of_frame, carried_frame, blocks), because="W_ij K_j = P'_ij T'_ij K_j.")
metric_moved = Step(
    id="metric_moved", lhs=P2[i, j] ** 2 * Sum(K[i, a, b] * K[i, c, b], (b, 1, d)),
    rhs=Sum(moved_frame[i, j, a, b] * moved_frame[i, j, c, b], (b, 1, d)),
    by=(frame_moved, transported),
    because=r"$W_{ij} M_j W_{ij}^\top = (P'_{ij})^2 T'_{ij} M_j (T'_{ij})^\top = (P'_{ij})^2 M_i$.",
)
deviations = Sum(share[h, i, j] * share[k, i, j] * deviation[h, k, j, a, b] ** 2,
                 (h, 1, H), (k, 1, H), (a, 1, d), (b, 1, d))
gauge_energy = Step(
    id="gauge_energy", lhs=deviations, rhs=2 * (P[i, j] * s[j]) ** 2 - 2 * (P2[i, j] * s[i]) ** 2,
    by=(norm_in_gauge, metric_moved, block_of_frame, block, total_share, seen_by, pair_gap,
        isometric),
    because="tr(G W_ij M_j W_ij^T) is P_ij^2 s_j^2 less half the sum, as in the identity.")
below = Bound(
    id="below", small=P2[i, j] * s[i], large=P[i, j] * s[j], power=2,
    certificate=Rational(1, 2) * deviations,
    by=(gauge_energy, shares, positive_norm, total_share, seen_by, pair_gap),
    because="The squares differ by a sum of squares, and P_ij s_j >= 0.")

total_loss = Sum(pi[i] * loss[i, j], (i, 1, n), (j, 1, n))
balanced_loss = Step(
    id="balanced_loss", lhs=total_loss, rhs=Integer(0),
    by=(lost, stationary, rows),
    because="pi (P - N) s = 0 with N_ij = P'_ij s_i / s_j: both are sum_i pi_i s_i.")
no_loss = Vanishing(
    id="no_loss", total=total_loss, part=loss[i, j], weight=pi[i], over=((i, n), (j, n)), power=1,
    strict=True, by=(lost, below, positive_law),
    because="The losses are nonnegative and the weights pi_i positive.")
loss_zero = Step(
    id="loss_zero", lhs=loss[i, j], rhs=Integer(0), by=(balanced_loss, no_loss),
    because="The total is 0.")
kept = Step(
    id="kept", lhs=P[i, j] * s[j], rhs=loss[i, j] + P2[i, j] * s[i], by=(lost,),
    because="The definition of the loss.")
same_total = Step(
    id="same_total", lhs=P[i, j] * s[j], rhs=P2[i, j] * s[i], by=(kept, loss_zero),
    because="The loss is 0.")
no_deviation = Step(
    id="no_deviation", lhs=deviations, rhs=Integer(0), by=(gauge_energy, same_total),
    because="P_ij s_j and P'_ij s_i have equal squares.")
deviation_parts = Vanishing(
    id="deviation_parts", total=deviations, part=deviation[h, k, j, a, b],
    weight=share[h, i, j] * share[k, i, j], over=((h, H), (k, H), (a, d), (b, d)),
    by=(shares,), because="A sum of nonnegatives.")
one_frame_removed = Definition(
    seen_back[h, k, j, a, b], Sum(deviation[h, k, j, a, e] * K_inv[j, e, b], (e, 1, d)))
frames_removed = Step(
    id="frames_removed", lhs=share[h, i, j] * share[k, i, j] * difference[h, k, a, b],
    rhs=share[h, i, j] * share[k, i, j]
    * Sum(F_inv[a, c] * seen_back[h, k, j, c, b], (c, 1, d)),
    by=(one_frame_removed, seen_by, inverse, frames, pair_gap),
    because="F and K_j are invertible.")
any_gauge = Step(
    id="any_gauge", lhs=share[h, i, j] * share[k, i, j] * difference[h, k, a, b], rhs=Integer(0),
    by=(frames_removed, one_frame_removed, no_deviation, deviation_parts),
    because="Where p^h_ij p^k_ij > 0, O_h = O_k.")

equal_heads = Step(
    id="equal_heads", lhs=W[i, j, a, b], rhs=P[i, j] * O_0[a, b],
    by=(block, same_heads, total_share), because="The shares p^h_ij sum to P_ij.")
edge_block = Step(
    id="edge_block", lhs=P2[i, j] * T2[i, j, a, b], rhs=W[i, j, a, b], by=(blocks,),
    because="Both gauges are of one operator.")
same_transport = Step(
    id="same_transport", lhs=P2[i, j] * T2[i, j, a, b], rhs=P2[i, j] * O_0[a, b],
    by=(edge_block, equal_heads, same_walk), because="P'_ij T'_ij = P_ij O = P'_ij O.")
two_way = Sum(T2[i, j, a, c] * T2[j, i, c, b], (c, 1, d))
squared_head = Sum(O_0[a, c] * O_0[c, b], (c, 1, d))
involution = Iff(
    id="involution", factor=P[i, j] * P[j, i], right=(squared_head, KroneckerDelta(a, b)),
    left=(P2[i, j] * P2[j, i] * two_way, P2[i, j] * P2[j, i] * KroneckerDelta(a, b)),
    by=(edge_block, equal_heads, same_walk, total_share, full),
    because="P' = P and T'_ij = O, so T'_ij T'_ji = O^2.")

of_any_gauge = (
    below, balanced_loss, no_loss, loss_zero, kept, same_total, no_deviation, deviation_parts,
    frames_removed, any_gauge,
)
of_laplacian = (equal_heads, edge_block, same_transport, involution)
