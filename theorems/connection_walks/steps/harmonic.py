"""Hypotheses on stationary laws, harmonic sections and eigenvectors; graphs of counterexamples."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from sympy import IndexedBase, Integer, KroneckerDelta, Sum, latex

from theorems.assumptions.metrics import isometric
from theorems.assumptions.sections import Gauge, chosen, matrix, put
from theorems.assumptions.constructions import invertible, reflection, unit_vector
from theorems.checker.exact import Draw, Rejected, SmallIntegers, Value, times
from theorems.statement import Assumption, Local, symbols_of

i, j, k, a, b, c, e, q = symbols_of("i j k a b c e q")


def recurrent(P: IndexedBase, pi: IndexedBase) -> Local:
    """P is row-stochastic with the stationary law pi > 0, not normalised: its flow circulates."""
    n = P.shape[0]

    def impose(draw: Draw) -> None:
        size = draw.size(n)
        shift = [draw.source.fresh(">=0") for _ in range(size)]
        flow = [[shift[(s - r) % size] for s in range(size)] for r in range(size)]
        for r, s in product(range(size), range(size)):
            extra = draw.source.fresh(">=0") if r <= s else 0
            flow[r][s] += extra
            flow[s][r] += extra if r < s else 0
        for r, row in enumerate(flow, start=1):
            total = sum(row)
            if draw.source.is_zero(total):
                raise Rejected("a node without edges")
            draw.put(pi, (r,), total)
            inverse = draw.source.inverse(total)
            for s, value in enumerate(row, start=1):
                draw.put(P, (r, s), value * inverse)

    rules = ((Sum(P[i, j], (j, 1, n)), Integer(1)), (Sum(pi[i] * P[i, j], (i, 1, n)), pi[j]))
    text = f"${P} \\mathbf{{1}} = \\mathbf{{1}}$, ${P} \\ge 0$, $\\pi {P} = \\pi > 0$"
    return Local(f"{P} is recurrent", text, rules, impose, ((P, ">=0"), (pi, ">0")))


def components(draw: Draw, P: IndexedBase) -> list[int]:
    """For each node the least node that edges of P, taken both ways, join to it."""
    (size, _), least = draw.shape(P), []
    for start in range(size):
        reached, waiting = {start}, [start]
        while waiting:
            r = waiting.pop()
            for s in range(size):
                pair = ((r + 1, s + 1), (s + 1, r + 1))
                if s not in reached and any(draw.get(P.name, at) != 0 for at in pair):
                    reached.add(s)
                    waiting.append(s)
        least.append(min(reached))
    return least


def orthonormal_sections(
    psi: IndexedBase, phi: IndexedBase, pi: IndexedBase, G: IndexedBase
) -> Local:
    """phi_kq is an orthonormal basis for sum_i pi_i u_i^T G_i v_i, with psi_kq = pi G phi_kq:
    sum_kq psi_kq psi_kq^T is the Gram matrix. Instances are reflections R1_ki R2_qa in frames."""
    n, d = phi.shape[:2]

    def impose(draw: Draw) -> None:
        left, right = (reflection(draw, draw.size(size)) for size in (n, d))
        for r, row in enumerate(zip(*left, strict=True), start=1):
            frame, coframe = invertible(draw, draw.size(d))
            scale = draw.source.fresh(">0")
            inverse = draw.source.inverse(scale)
            draw.put(pi, (r,), scale * scale)
            put(draw, G, (r,), times([list(column) for column in zip(*frame, strict=True)], frame))
            turned = times(coframe, [list(column) for column in zip(*right, strict=True)])
            for (p, s), t in product(enumerate(row, start=1), range(1, len(right) + 1)):
                for place, line in enumerate(turned, start=1):
                    draw.put(phi, (p, t, r, place), inverse * s * line[t - 1])

    complete = Sum(psi[k, q, i, a] * psi[k, q, j, b], (k, 1, n), (q, 1, d))
    rule = (complete, KroneckerDelta(i, j) * pi[i] * G[i, a, b])
    text = f"the sections ${latex(phi.label)}_{{kq}}$ are an orthonormal basis"
    return Local(f"{phi} is an orthonormal basis", text, (rule,), impose)


def unit_sections(z: IndexedBase, G: IndexedBase) -> Local:
    """|z_i|_{G_i} = 1 at every node."""
    n, d = z.shape

    def impose(draw: Draw) -> None:
        for r in range(1, draw.size(n) + 1):
            frame, coframe = invertible(draw, draw.size(d))
            put(draw, G, (r,), times([list(column) for column in zip(*frame, strict=True)], frame))
            vector = times(coframe, [[value] for value in unit_vector(draw, draw.size(d))])
            for place, (value,) in enumerate(vector, start=1):
                draw.put(z, (r, place), value)

    rule = (Sum(z[i, a] * G[i, a, b] * z[i, b], (a, 1, d), (b, 1, d)), Integer(1))
    return Local(f"{z} has length 1", f"$|{z}_i|_{{G_i}} = 1$", (rule,), impose)


def _choose_frames(draw: Draw, frames: Gauge) -> None:
    if not chosen(draw, frames[0], 1, 1, 1):
        n, d, _ = draw.shape(frames[0])
        for r in range(1, n + 1):
            for target, rows in zip(frames, invertible(draw, d), strict=True):
                put(draw, target, (r,), rows)


def isometric_in_frames(P: IndexedBase, T: IndexedBase, frames: Gauge) -> Assumption:
    """T_ij^T G_i T_ij = G_j on edges, G_i = F_i^T F_i; instances are reflections in frames."""
    F, d = frames[0], frames[0].shape[-1]

    def impose(draw: Draw) -> None:
        _choose_frames(draw, frames)
        for r, s in draw.cells(T, 2):
            if draw.get(P.name, (r, s)) != 0 and not chosen(draw, T, r, s, 1, 1):
                _isometry(draw, T, frames, (r, s), reflection(draw, draw.size(d)))

    plain = isometric(P, T, F)
    text = f"{plain.text}, $G_i = {F}_i^\\top {F}_i$"
    return replace(plain, id=f"{T} is isometric for {F}", text=text, impose=impose)


def _isometry(draw: Draw, T: IndexedBase, frames: Gauge, cell: tuple[int, int], O: list) -> None:
    left, right = matrix(draw, frames[1], cell[:1]), matrix(draw, frames[0], cell[1:])
    put(draw, T, cell, times(times(left, O), right))


def harmonic_sections(P: IndexedBase, T: IndexedBase, u: IndexedBase, frames: Gauge) -> Local:
    """W u = u for the columns of u; instances are parallel, or solve one row for one transport."""
    n, d = u.shape[:2]

    def read(draw: Draw, r: int, s: int) -> Value:
        return draw.get(P.name, (r, s)) * draw.get(u.name, (s, 1, 1))

    def solved(draw: Draw) -> None:
        *others, last = range(1, draw.size(n) + 1)
        for row in (*others, last):
            rest = draw.get(u.name, (row, 1, 1))
            for s in others:
                rest -= draw.get(T.name, (row, s, 1, 1)) * read(draw, row, s)
            draw.put(T, (row, last, 1, 1), rest * draw.source.inverse(read(draw, row, last)))

    def impose(draw: Draw) -> None:
        size, width = draw.size(n), draw.size(d)
        if type(draw.source) is SmallIntegers and width == 1 and draw.source.rng.randrange(2):
            solved(draw)
            return
        _choose_frames(draw, frames)
        turns = [reflection(draw, width) for _ in range(size)]
        constant = [[[draw.source.fresh(None) for _ in range(width)] for _ in range(width)]
                    for _ in range(size)]
        for r, least in enumerate(components(draw, P)):
            frame = matrix(draw, frames[1], (r + 1,))
            put(draw, u, (r + 1,), times(times(frame, turns[r]), constant[least]))
        for r, s in draw.cells(P):
            if draw.get(P.name, (r, s)) != 0:
                _isometry(draw, T, frames, (r, s), times(turns[r - 1], turns[s - 1]))

    average = Sum(P[i, j] * T[i, j, a, b] * u[j, b, c], (j, 1, n), (b, 1, d))
    rule = (average, u[i, a, c])
    return Local(f"{u} is harmonic for {T}", f"$W {u} = {u}$", (rule,), impose)


def harmonic_function(P: IndexedBase, f: IndexedBase) -> Local:
    """P f = f; instances are constant on the components of the graph."""
    n = P.shape[0]

    def impose(draw: Draw) -> None:
        values = [draw.source.fresh(None) for _ in range(draw.size(n))]
        for r, least in enumerate(components(draw, P), start=1):
            draw.put(f, (r,), values[least])

    rule = (Sum(P[i, j] * f[j], (j, 1, n)), f[i])
    return Local(f"{f} is harmonic", f"${P} {f} = {f}$", (rule,), impose)


def involution(T: IndexedBase) -> Local:
    """T^2 = I."""
    square = Sum(T[a, b] * T[b, c], (b, 1, T.shape[-1]))
    return Local(
        f"{T} is an involution", f"${latex(T.label)}$ is an involution",
        ((square, KroneckerDelta(a, c)),),
        lambda draw: put(draw, T, (), reflection(draw, draw.shape(T)[-1])),
    )


def triangles(E: IndexedBase, T: IndexedBase) -> Local:
    """The holonomies of all triangles of a graph E without self-loops are 1; T_ij T_ji = 1."""

    def impose(draw: Draw) -> None:
        for r, s in draw.cells(E):
            if r <= s:
                joined = int(r < s and draw.source.rng.randrange(2))
                forth = draw.source.fresh("!=0")
                draw.put(E, (r, s), joined)
                draw.put(T, (r, s), forth if r < s else 1)
                if r < s:
                    draw.put(E, (s, r), joined)
                    draw.put(T, (s, r), draw.source.inverse(forth))

    closed, back = E[i, j] * E[j, k] * E[k, i], E[i, j] * E[j, i]
    rules = ((closed * T[i, j] * T[j, k] * T[k, i], closed), (back * T[i, j] * T[j, i], back))
    return Local(f"{T} is flat on triangles", "the triangles are flat", rules, impose)


def acyclic(E: IndexedBase, B: IndexedBase) -> Local:
    """Three nodes without directed cycles, each but the first with one edge of a tree B."""

    def impose(draw: Draw) -> None:
        for r, s in draw.cells(E):
            draw.put(E, (r, s), int(r > s))
        parent = {2: 1, 3: draw.source.rng.randrange(1, 3)}
        for r, s in draw.cells(B):
            draw.put(B, (r, s), int(parent.get(r) == s))

    cycle = E[i, j] * E[j, k] * E[k, i]
    rules = ((E[i, j] * E[j, i], Integer(0)), (cycle, Integer(0)), (B[i, j] * E[i, j], B[i, j]))
    return Local(f"{E} is acyclic", "no closed directed walk", rules, impose)
