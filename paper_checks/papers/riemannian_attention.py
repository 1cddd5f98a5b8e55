"""`riemannian-attention`: per-token metrics, their scores and costs, and rank collapse."""

from __future__ import annotations

from paper_checks.claims import Claim, Evidence

CLAIMS = (
    Claim(
        "riemannian-attention/euclidean-scores",
        "Transformer language models all score by a Euclidean inner product.",
        r"A dot-product head scores by $x_i^{\top} M x_j$ with a learned $M$, of rank at most the "
        r"head width; that every published model does so is a statement about the literature.",
        kind="open",
        settled_by="a survey of the published architectures",
    ),
    Claim(
        "riemannian-attention/flat-collapse",
        "Because of that choice, the rank of pure attention stacks decays doubly exponentially.",
        r"Row-stochastic layers contract the spread of the tokens, by dot products and without "
        r"mask cubically, so doubly exponentially in depth, for value maps of norms with sum at "
        r"most 1 or inside the basin of attraction.",
        note="The published sum over heads needs a triangle inequality that fails (RA13). The "
        "inner product is not the cause: bounded metrics collapse all the same (RA11).",
    ),
    Claim(
        "riemannian-attention/row-stochastic-collapse",
        "It is row-stochasticity that makes the rank collapse.",
        r"Row-stochastic $A$ contracts the spread by its Dobrushin coefficient, but the product "
        r"over layers tends to zero only if score spreads grow slowly enough: for spreads $B_l$ "
        r"iff $\sum_l e^{-B_l} = \infty$ or some $B_l = 0$.",
    ),
    Claim(
        "riemannian-attention/non-gram",
        r"Scores with one metric a token cannot be written as $Q K^{\top}$ with a width of order "
        r"$d$.",
        r"For $n \ge 2$ tokens the largest and generic rank of the squared scores is "
        r"$\min(n, (d+1)(d+2)/2)$; softmax lowers the need by one.",
        note="True for metrics whose span has dimension of order $d^2$ and as many tokens; "
        "conformal and diagonal metrics, and those of a shared subspace with diagonal cores or "
        r"full ones of rank $O(\sqrt d)$, have scores of width of order $d$. Unsquared distances "
        "have full rank even for one metric.",
    ),
    Claim(
        "riemannian-attention/structural-only",
        "That such scores are not of Gram form is a remark on structure and preserves no rank.",
        r"Stacks with any bounded metrics collapse all the same, without mask and for value maps "
        r"of norms with sum at most 1.",
    ),
    Claim(
        "riemannian-attention/distance-cost",
        "With metrics of low rank a geodesic distance costs $O(d r)$ a token.",
        r"The squared chord $(x_i - x_j)^{\top} G_i (x_i - x_j)$ costs $O(d r)$ a pair, and over "
        r"all pairs exactly $r + 2$ products of the size of $Q K^{\top}$.",
    ),
    Claim(
        "riemannian-attention/inversion-cost",
        "The Woodbury identity inverts a metric in $O(d r^2)$.",
        r"For $D > 0$ the identity holds with a capacitance matrix that is always invertible; all "
        r"that comes before the first application costs at most $4 d r^2$ for $r \le d$ and at "
        r"least $r^3 / 6$ always, an application $2 d r + r^2 + r + 2 d$, and the entries of the "
        r"inverse $r d (d + 1) / 2$ more.",
    ),
    Claim(
        "riemannian-attention/below-cubic",
        "Neither distances nor inverses come near the cubic cost of a matrix without structure.",
        r"Counted exactly, for $r \le d$ a distance costs $d (r + 2) + r$ and a factored inverse "
        r"between $d r^2 / 2$ and $4 d r^2$: both are of lower order than $d^3$ iff $r$ is of "
        r"lower order than $d$.",
    ),
    Claim(
        "riemannian-attention/overhead",
        "At a billion parameters and more the overhead of such attention is negligible.",
        r"Recomputed from published shapes: score part over a layer of the standard model, with a "
        r"linear metric head. Small only for $n \ll d$ and cheap metric heads.",
        kind="empirical",
    ),
    Claim(
        "riemannian-attention/geodesic-attention",
        "The attention of the architecture computes geodesic distances.",
        r"The quadratic form of the metric at the query equals the squared geodesic distance for "
        r"all pairs of a convex chart iff the metric is constant there; otherwise they differ at "
        r"third order.",
    ),
    Claim(
        "riemannian-attention/preconditioned-step",
        "Feed-forward updates take steps preconditioned by the metric.",
        r"$-G^{-1} \nabla f$ is the direction of steepest descent in the norm of $G$; the "
        r"direction is covariant, the finite step under affine changes of coordinates only.",
    ),
    Claim(
        "riemannian-attention/curvature-torsion",
        "The connection has explicit proxies of curvature and torsion.",
        r"$T_{ij} T_{jk} T_{ki} - I$ and the gap of a parallelogram agree with curvature and "
        r"torsion to leading order for smooth metric connections.",
    ),
    Claim(
        "riemannian-attention/fiber-bundle",
        "The Fiber Bundle Transformer is specified completely.",
        r"A reference implementation exists that reduces to a standard block for flat metrics and "
        r"trivial transports, has zero curvature and torsion for constant ones, and trains.",
        kind="empirical",
    ),
    Claim(
        "riemannian-attention/predictions",
        "Formal predictions follow for correctly implemented geometric architectures.",
        r"Which predictions are meant the abstract does not say; what is shown here of such "
        r"architectures is reversibility of symmetrised scores and exact reductions.",
        kind="open",
        settled_by="the full text of the paper, which states the predictions",
    ),
    Claim(
        "riemannian-attention/heterogeneity-and-collapse",
        "Whether metrics that differ from token to token prevent rank collapse is open.",
        r"They do not: stacks with any metrics bounded uniformly in depth collapse; with unbounded "
        r"ones homogeneous metrics already prevent collapse, so that heterogeneity is neither "
        r"sufficient nor necessary.",
    ),
    Claim(
        "riemannian-attention/kernel-sense",
        "Scores with one metric a token are not of Gram form, now read as a word about kernels.",
        r"The entrywise $\exp(S / \tau)$ is positive semidefinite for all $\tau$ iff symmetric $S$ "
        r"is conditionally so: for homogeneous squared distances yes, for symmetrised "
        r"heterogeneous ones not always.",
    ),
)

EVIDENCE = {
    "riemannian-attention/euclidean-scores": Evidence(("RA3.bilinear",)),
    "riemannian-attention/flat-collapse": Evidence(
        (
            "RA11.dot_products",
            "RA11.layer",
            "RA11.cubic",
            "RA11.depth",
            "RA11.collapse",
            "RA13.multi_head",
        ),
        added=(
            r"no mask (causal stacks collapse at a fixed rate per layer only)",
            r"norms of the value maps sum to at most 1, or the spread starts in the basin",
        ),
        without=("RA11.frozen", "RA12.criterion", "RA13.not_a_norm", "RA17.limit"),
    ),
    "riemannian-attention/row-stochastic-collapse": Evidence(
        ("RA11.dobrushin", "RA11.layer", "RA12.contraction", "RA12.criterion"),
        added=(r"score spreads $B_l$ with $\sum_l e^{-B_l} = \infty$", "no residual stream"),
        without=("RA12.criterion", "RA12.homogeneous", "RA16.no_collapse"),
    ),
    "riemannian-attention/non-gram": Evidence(
        (
            "RA1.upper_bound",
            "RA1.attained",
            "RA2.upper_bound",
            "RA2.certificate",
            "RA2.part",
            "RA2.without_pairs",
            "RA2.few_tokens",
            "RA2.generic",
            "RA4.generic",
            "RA4.causal",
        ),
        refuted_by=(
            "RA3.widths",
            "RA3.conformal",
            "RA3.diagonal",
            "RA3.shared_diagonal",
            "RA3:heterogeneous_is_more",
        ),
    ),
    "riemannian-attention/structural-only": Evidence(
        ("RA11.geodesic", "RA11.unsquared", "RA11.layer", "RA11.collapse", "RA12.criterion")
    ),
    "riemannian-attention/distance-cost": Evidence(
        ("RA7.low_rank_form", "RA7.products", "RA7.counts"),
        added=("the distance is the chord in one endpoint's metric, counted for each pair",),
        without=("RA8.only_constant",),
    ),
    "riemannian-attention/inversion-cost": Evidence(
        ("RA6.capacitance", "RA6.inverse", "RA6.counts", "RA6.order"),
        added=(r"$D > 0$ and $r \le d$", "the inverse is applied, never formed"),
        without=("RA6:singular_capacitance", "RA6:any_width", "RA6.order"),
    ),
    "riemannian-attention/below-cubic": Evidence(
        ("RA6.counts", "RA6.order", "RA7.counts"),
        added=(r"$r$ of lower order than $d$",),
        without=("RA6.counts", "RA6.order"),
    ),
    "riemannian-attention/overhead": Evidence(("RA7.counts",), refuted_by=("RA7.overhead",)),
    "riemannian-attention/geodesic-attention": Evidence(
        ("RA8.distance", "RA8.chords", "RA8.constant", "RA8.geodesics_on_lines", "RA8.polar"),
        refuted_by=("RA8.only_constant", "RA8:query_fourth"),
    ),
    "riemannian-attention/preconditioned-step": Evidence(
        ("RA9.steepest", "RA9.direction", "RA9.affine", "RA9.defect", "RA9:every_map")
    ),
    "riemannian-attention/curvature-torsion": Evidence(
        (
            "RA10.isometries",
            "RA10.segments",
            "RA10.levi_civita",
            "RA10.riemann",
            "RA10.curvature",
            "RA10.torsion",
            "RA10.polar",
            "RA10.constant_curvature",
            "RA10.coboundary",
        ),
        added=(
            r"torsion is that of the chosen transports: between frames with $R_{ij} = I$ it is the "
            r"frames' own, while the surface has none",
        ),
        without=("RA10.polar_transports", "RA10:polar_frame_untwisted"),
    ),
    "riemannian-attention/fiber-bundle": Evidence(
        ("RA14.reduction", "RA14.flat", "RA14.causal", "RA14.signed_permutations")
    ),
    "riemannian-attention/predictions": Evidence(("RA14.reversible", "RA15")),
    "riemannian-attention/heterogeneity-and-collapse": Evidence(
        (
            "RA11.geodesic",
            "RA11.unsquared",
            "RA11.layer",
            "RA11.collapse",
            "RA12.growth",
            "RA12.criterion",
            "RA12.homogeneous",
        ),
        added=(
            "metrics bounded uniformly in depth, no residual stream",
            r"norms of the value maps sum to at most 1, or the spread starts in the basin",
        ),
        without=("RA11.frozen", "RA12.homogeneous", "RA16.no_collapse"),
    ),
    "riemannian-attention/kernel-sense": Evidence(
        ("RA18.schoenberg", "RA18.conditional", "RA18.heterogeneous"),
        added=("metrics that differ from token to token, and not all such metrics",),
        without=("RA18.homogeneous",),
    ),
}
