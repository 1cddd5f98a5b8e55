"""Steps of RA10 on the frame of one metric of low rank, F = (I + V K V^T) q with F^T F = G.

V = D^{-1/2} U is named by U = q V with q^2 = D, and the square root of I + V^T V by M = H^T H, as
every symmetric M >= 0 is. Instances turn planes in which I + v^2 is a square: M = w^2 + (1/2w)^2.
"""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq
from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum

from theorems.assumptions.entries import signed
from theorems.assumptions.frames import fixed, identity, transposed, turn
from theorems.assumptions.sections import put
from theorems.checker.exact import Draw, Rejected, SmallIntegers, Value, times
from theorems.assumptions.low_rank import annihilated, inverse_of
from theorems.rules import Vanishing
from theorems.statement import Assumption, Bound, Definition, Local, Rule, Step, array, symbols_of

d, r, p = symbols_of("d r p")
a, b, c, e, f, g, h, k = symbols_of("a b c e f g h k")

q, inverse_q = array("q", d), array("q^{-1}", d)
D, U, V = array("D", d), array("U", d, r), array("V", d, r)
H, M, N, S = array("H", p, r), array("M", r, r), array("N", r, r), array("S", r, r)
K, L, B = array("K", r, r), array("L", r, r), array("B", r, r)
G, F, inverse_F = array("G", d, d), array("F", d, d), array("F^{-1}", d, d)
y = array("y", r)

positive = signed(q, ">0")
reciprocal = Definition(inverse_q[a], Integer(1), over=q[a])
diagonal = Definition(D[a], q[a] ** 2)
factor = Definition(U[a, c], q[a] * V[a, c])
metric = Definition(G[a, b], D[a] * KroneckerDelta(a, b) + Sum(U[a, c] * U[b, c], (c, 1, r)))
semidefinite = Definition(M[c, e], Sum(H[k, c] * H[k, e], (k, 1, p)))
shifted = Definition(N[c, e], KroneckerDelta(c, e) + M[c, e])
capacitance = Definition(
    S[c, e], KroneckerDelta(c, e) + M[c, e] + Sum(V[a, c] * V[a, e], (a, 1, d))
)


def _inverse(matrix: IndexedBase, inverse: IndexedBase) -> Assumption:
    """The inverse; of dense symbols Cramer's rule would be dear, so few entries are left free."""
    known = inverse_of(matrix, inverse)

    def impose(draw: Draw) -> None:
        if type(draw.source) is not SmallIntegers:
            rootless = M.name not in draw.definitions
            for target in (M, V) if rootless else (H, V):
                if not fixed(draw, target):
                    for row, column in draw.cells(target):
                        if row != column and (row, column) != (1, 2):
                            draw.put(target, (row, column), fmpq(0))
        if known.impose:
            known.impose(draw)

    return replace(known, impose=impose)


inverse_N, inverse_S = _inverse(N, K), _inverse(S, L)


def between(inner: IndexedBase) -> Expr:
    """V inner V^T."""
    return Sum(V[a, c] * inner[c, e] * V[b, e], (c, 1, r), (e, 1, r))


TURN = KroneckerDelta(a, b) + between(K)
frame = Definition(F[a, b], TURN * q[b])
woodbury = Definition(inverse_F[a, b], inverse_q[a] * (KroneckerDelta(a, b) - between(L)))


def _root(draw: Draw) -> None:
    """M = S m S^T, H = (w, 1/2w) S^T, V = Q (m^2 - 1)^{1/2} S^T: m, w diagonal, S, Q orthogonal."""
    rank = draw.size(r)
    draw.sizes.setdefault(p.name, 2 * rank)
    rows, width = draw.size(p), draw.size(d)
    if rows < rank:
        raise Rejected(f"{rows} rows do not make a root of full rank {rank}")
    searching = type(draw.source) is SmallIntegers
    turned, embedded = ([turn(draw, size) if searching else identity(size)
                         for size in (rank, width)])
    factors, below, lengths = identity(rank), [], []
    for place in range(rank):
        length: Value = fmpq(0)
        if place < min(rows - rank, width):
            w = draw.source.fresh(">0")
            half = draw.source.inverse(2 * w)
            factors[place][place], length = w, w * w - half * half
            below.append([half * int(at == place) for at in range(rank)])
        lengths.append(length)
    below += [rank * [0] for _ in range(rows - rank - len(below))]
    scaled = [[embedded[row][at] * lengths[at] if at < width else fmpq(0) for at in range(rank)]
              for row in range(width)]
    put(draw, H, (), times(factors + below, transposed(turned)))
    put(draw, V, (), times(scaled, transposed(turned)))


root_of_gram = Local(
    "M is the square root",
    r"$M^2 = I + V^\top V$",
    ((Sum(V[a, c] * V[a, e], (a, 1, d)),
      Sum(M[c, f] * M[f, e], (f, 1, r)) - KroneckerDelta(c, e)),), _root,
)

PULLED = Sum(H[k, c] * y[c], (c, 1, r))
SEEN = Sum(V[a, c] * y[c], (c, 1, r))


def _kernel(matrix: IndexedBase, name: str, rest: Expr, by: tuple) -> tuple[Rule, ...]:
    """The matrix is at least I, so its kernel is 0."""
    total = Sum(y[c] * matrix[c, e] * y[e], (c, 1, r), (e, 1, r))
    above = Bound(
        id=f"{name}_above_identity", small=Sum(y[c] ** 2, (c, 1, r)), large=total,
        certificate=rest, by=by, because="What is added to $|y|^2$ is a sum of squares.",
    )
    none = Step(
        id=f"{name}_no_energy", lhs=total, rhs=Integer(0), by=(annihilated(matrix, y),),
        because=f"${matrix} y = 0$ gives $y^\\top {matrix} y = 0$.",
    )
    parts = Vanishing(
        id=f"{name}_parts_vanish", total=total, part=y[c], over=((c, r),), rest=rest, strict=True,
        by=by, because="A sum of squares is 0 only term by term.",
    )
    invertible = Step(
        id=f"{name}_invertible", lhs=y[c], rhs=Integer(0), by=(parts, none),
        because=f"A square matrix with kernel 0 has an inverse: {matrix} is invertible.",
    )
    return above, none, parts, invertible


shift_kernel = _kernel(N, "shift", Sum(PULLED**2, (k, 1, p)), (shifted, semidefinite))
capacitance_kernel = _kernel(
    S, "capacitance", Sum(PULLED**2, (k, 1, p)) + Sum(SEEN**2, (a, 1, d)),
    (capacitance, semidefinite),
)

ROOT_K = Sum(M[c, f] * K[f, e], (f, 1, r))
product = Definition(B[c, e], ROOT_K)
root_times_K = Step(
    id="root_times_K", lhs=ROOT_K, rhs=Sum(N[c, f] * K[f, e], (f, 1, r)) - K[c, e], by=(shifted,),
    because=r"$M = N - I$.",
)
known_product = Step(
    id="known_product", lhs=B[c, e], rhs=KroneckerDelta(c, e) - K[c, e],
    by=(product, root_times_K, inverse_N), because=r"$N K = I$, so $M K = I - K$.",
)
squared_product = Step(
    id="squared_product", rhs=Sum(B[c, e] * B[c, h], (c, 1, r)), by=(product, semidefinite),
    lhs=Sum(K[c, e] * M[c, f] * M[f, g] * K[g, h], (c, 1, r), (f, 1, r), (g, 1, r)),
    because=r"M is symmetric: $K^\top M^2 K = (M K)^\top M K$.",
)
frame_metric = Step(
    id="frame_metric", lhs=Sum(F[a, b] * F[a, g], (a, 1, d)), rhs=G[b, g],
    by=(frame, metric, factor, diagonal, root_of_gram, squared_product, known_product),
    because=r"Between $V$ and $V^\top$ stands $K + K^\top + K^\top (M^2 - I) K$, which is $I$ as "
    r"$K^\top M^2 K = (I - K)^\top (I - K)$.",
)
gram = Step(
    id="gram", lhs=Sum(V[a, c] * V[a, e], (a, 1, d)), rhs=S[c, e] - N[c, e],
    by=(capacitance, shifted), because=r"$V^\top V = S - K^{-1}$.",
)
N_transposed = Step(
    id="N_transposed", lhs=Sum(N[f, c] * K[f, e], (f, 1, r)), by=(shifted, semidefinite),
    rhs=Sum(N[c, f] * K[f, e], (f, 1, r)), because="N is symmetric.",
)
S_transposed = Step(
    id="S_transposed", lhs=Sum(L[c, f] * S[e, f], (f, 1, r)), by=(capacitance, semidefinite),
    rhs=Sum(L[c, f] * S[f, e], (f, 1, r)), because="S is symmetric.",
)
INVERTED = (frame, woodbury, reciprocal, positive, gram, inverse_N, inverse_S)
frame_right = Step(
    id="frame_right", lhs=Sum(F[a, b] * inverse_F[b, g], (b, 1, d)), rhs=KroneckerDelta(a, g),
    by=INVERTED, because=r"$K - L - K (S - N) L = 0$ as $S L = I$ and $K N = I$.",
)
frame_left = Step(
    id="frame_left", lhs=Sum(inverse_F[a, b] * F[b, g], (b, 1, d)), rhs=KroneckerDelta(a, g),
    by=(*INVERTED, N_transposed, S_transposed),
    because=r"The same from the left, as $L S = I$ and $N K = I$.",
)
