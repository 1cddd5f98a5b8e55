"""`attention-geometry`: self-attention as a connection walk and as a connection Laplacian."""

from __future__ import annotations

from paper_checks.claims import Claim, Evidence

ONE_COMMAND = (
    r"\texttt{torchrun --nproc-per-node 8 --no-python attention-geometry analyze CHECKPOINT "
    r"--out DIR}"
)

CLAIMS = (
    Claim(
        "attention-geometry/connection-walk",
        "A self-attention layer aggregates messages over the graph of token positions with "
        "nonnegative weights, and a learned linear map carries each message along its edge.",
        r"The layer is $y_i = \sum_j P_{ij} T_{ij} x_j$ with $P \ge 0$, whatever mask or position "
        r"term shaped the logits; both change $P$ and never the maps $T_{ij}$.",
    ),
    Claim(
        "attention-geometry/single-head",
        "One attention head is a propagation step whose transport is the same on every edge.",
        r"For every walk matrix $P$ the head is $y_i = \sum_j P_{ij} T x_j$ with "
        r"$T = (W_V W_O)^{\top}$, its block matrix is the Kronecker product $P \otimes T$, and for "
        r"row-stochastic $P$ the biases add one vector, the same for every token.",
    ),
    Claim(
        "attention-geometry/multi-head",
        "Several heads together are again one walk, whose transports depend on the edge.",
        r"For any head weights $w_h > 0$ the sum of the heads is "
        r"$\sum_j P_{ij} T_{ij} x_j$ with $P = \sum_h w_h A^h$ and "
        r"$P_{ij} T_{ij} = \sum_h A^h_{ij} T^h$. Where $P_{ij} = 0$ every head vanishes and "
        r"$T_{ij}$ is free.",
    ),
    Claim(
        "attention-geometry/gated-mixture",
        "The transport on an edge mixes the transports of the heads, gated by their attention.",
        r"On edges $T_{ij} = \sum_h g^h_{ij} T^h / w_h$ with gates $g^h_{ij} \ge 0$, "
        r"$\sum_h g^h_{ij} = 1$: for the head mean, $w_h = 1/H$, a convex mixture of the matrices "
        r"$H T^h$.",
        note=r"Without the factor the mixture is off by exactly $H$.",
    ),
    Claim(
        "attention-geometry/edge-dependence",
        "Multi-head transports, unlike those of one head, vary from edge to edge.",
        r"Transports are constant over a set of edges iff all differences of gates annihilate the "
        r"matrix of the $T^h / w_h$: for two heads iff the gates are constant or both heads "
        r"transport alike, for three heads neither is necessary.",
        note="Transports are constant where all heads transport alike, where the gates are "
        "constant, and in an exact example of three heads where neither is so.",
    ),
    Claim(
        "attention-geometry/laplacian-conditions",
        "Under stochasticity, reversibility and transports that respect a metric, the generator "
        "of the walk is a random-walk connection Laplacian.",
        r"$I - W$ is one, with these $P$, $T$ and some metrics $G_i$, iff on edges "
        r"$P \mathbf{1} = \mathbf{1}$, $\pi_i P_{ij} = \pi_j P_{ji}$ for some $\pi > 0$, "
        r"$T_{ij}^{\top} G_i T_{ij} = G_j$ and "
        r"$T_{ji} = T_{ij}^{-1}$.",
    ),
    Claim(
        "attention-geometry/role-of-reversibility",
        "Reversibility of the attention walk is one of the conditions; one can tell when it holds.",
        r"With full support and logits $S$ the walk is reversible iff the skew part of $S$ has "
        r"zero sum around every triangle; for $S_{ij} = x_i^{\top} M x_j$ iff the skew part of $M$ "
        r"vanishes on the span of token differences.",
    ),
    Claim(
        "attention-geometry/single-head-laplacian",
        "The reduction to a connection Laplacian applies to a single head.",
        r"For row-stochastic reversible $P$ the generator $I - P \otimes T$ is a connection "
        r"Laplacian for some metrics iff $T^2 = I$; isometry of $T$ alone is not enough.",
    ),
    Claim(
        "attention-geometry/multi-head-laplacian",
        "The reduction to a connection Laplacian applies to several heads.",
        r"With full support and heads isometric for one metric, the generator is a connection "
        r"Laplacian, in any gauge, iff all heads transport by one $O$ with $O^2 = I$ and the head "
        r"mean is reversible.",
    ),
    Claim(
        "attention-geometry/gauge",
        "Walk matrix and transports describe the operator of the layer.",
        r"$(P, T)$ and $(P', T')$ give the same operator iff $P_{ij} T_{ij} = P'_{ij} T'_{ij}$; "
        r"hence they share all that is a function of the operator, and holonomies up to positive "
        r"scalars. Stochasticity, reversibility, isometry and gates depend on the pair. "
        r"$g_i T_{ij} g_j^{-1}$ in place of $T_{ij}$ gives $g W g^{-1}$, conjugate holonomies, and "
        r"isometries for the metrics moved along.",
    ),
    Claim(
        "attention-geometry/classical-operators",
        "The formalism ties self-attention to operators of classical geometry.",
        r"Flat walks are gauge-equivalent to $P \otimes I$, and in the limit of many tokens the "
        r"walk with parallel transports tends to half the connection Laplacian plus a drift along "
        r"the gradient of the log density.",
    ),
    Claim(
        "attention-geometry/operator-tools",
        "The view supplies operator-level tools for analysing a trained transformer.",
        r"Five defects in $[0, 1]$, each zero iff its property holds; scaled isometries are an "
        r"isometric walk generator plus a potential; defects bound the imaginary part and the "
        r"range of the spectrum.",
    ),
    Claim(
        "attention-geometry/depth-stability",
        "In trained models the attention graphs of deeper layers settle on a stable operator.",
        r"The distance between walks of consecutive layers, sinks removed, falls with depth to at "
        r"most half, and in the deep third lies below that of every control (initialised model, "
        r"norm-matched random weights, another text).",
        kind="empirical",
        note="The verdict says that the rule was applied to the models named here; whether they "
        "support the claim is said for each.",
    ),
    Claim(
        "attention-geometry/scaled-isometries",
        "Trained transports organise themselves into approximately scaled isometries.",
        r"The singular values of $T^h = W_V^h W_O^h$ spread less than those of random factors of "
        r"the same shape, which are near-isometries already when the head is narrow: their "
        r"coefficient of variation is about $\sqrt{d_h / (2 d)}$.",
        kind="empirical",
        note="The verdict says that the rule was applied to the models named here; whether they "
        "support the claim is said for each.",
    ),
    Claim(
        "attention-geometry/scale",
        "Both effects grow with the size of the model.",
        r"Within one family, the slope over size of (trained $-$ control) is beyond 0 for both, "
        r"with its interval.",
        kind="open",
        settled_by="measurements of three sizes of one family: " + ONE_COMMAND,
    ),
    Claim(
        "attention-geometry/models-covered",
        "The effects hold from 124 million to 8 billion parameters, in encoders and decoders.",
        "Every named model of that range, an encoder and a decoder among them, gives the same "
        "finding against its controls.",
        kind="open",
        settled_by="measurements of the models that the paper used. NOT TESTED at 8 billion "
        "parameters, whose weights are not at hand; one command tests a model: " + ONE_COMMAND,
    ),
)

EVIDENCE = {
    "attention-geometry/connection-walk": Evidence(
        ("CW1.constant_transport", "CW1.masks_and_sinks", "CW2.gates")
    ),
    "attention-geometry/single-head": Evidence(
        ("CW1.constant_transport", "CW1.kronecker", "CW1.biases")
    ),
    "attention-geometry/multi-head": Evidence(("CW2.gates", "CW2.row_sums", "CW2.off_support")),
    "attention-geometry/gated-mixture": Evidence(
        ("CW2.gates_are_weights", "CW2.convex_mixture"),
        added=(r"each head enters as $T^h / w_h$, that is $H T^h$ for the head mean",),
        without=("CW2:missing_H",),
    ),
    "attention-geometry/edge-dependence": Evidence(
        ("CW2.constancy", "CW2.two_heads", "CW2.three_heads"),
        added=(r"gate differences do not annihilate the matrix of the $T^h / w_h$",),
        without=("CW2.three_heads",),
    ),
    "attention-geometry/laplacian-conditions": Evidence(
        ("CW5.reduction", "CW5.energy", "CW5.self_adjoint", "CW5.spectrum"),
        added=(r"the transports of an edge and of its reverse are inverse to each other",),
        without=("CW5.each_is_needed", "CW5:reversible_is_enough"),
    ),
    "attention-geometry/role-of-reversibility": Evidence(
        ("CW8.kolmogorov", "CW8.potential", "CW8.tokens", "CW8.closed_sets", "CW9.flow")
    ),
    "attention-geometry/single-head-laplacian": Evidence(
        ("CW6.involution", "CW6.orthogonal", "CW6.self_adjoint"),
        added=(r"the transport is an involution: $T^2 = I$",),
        without=("CW6.examples", "CW6:isometric_is_enough"),
    ),
    "attention-geometry/multi-head-laplacian": Evidence(
        ("CW7.identity", "CW7.isometry", "CW7.any_gauge", "CW7.laplacian"),
        added=(r"all heads share one transport $O$ with $O^2 = I$",),
        without=("CW7:mixture_is_isometric", "CW7.contraction"),
    ),
    "attention-geometry/gauge": Evidence(
        ("CW3.same_operator", "CW3.what_changes", "CW3.what_stays", "CW3.node_gauge")
    ),
    "attention-geometry/classical-operators": Evidence(
        (
            "CW5.reduction",
            "CW10.fundamental_cycles",
            "CW10.spectrum",
            "CW14.affine_density",
            "CW14.manifold",
        )
    ),
    "attention-geometry/operator-tools": Evidence(
        (
            "CW4.realignment",
            "CW9.stochasticity",
            "CW9.flow",
            "CW9.metric",
            "CW9.inverse",
            "CW9.operator",
            "CW12.generator",
            "CW13.imaginary",
            "CW13.range",
            "CW13.defects",
        )
    ),
    "attention-geometry/depth-stability": Evidence(("EM.depth_stability",)),
    "attention-geometry/scaled-isometries": Evidence(("EM.isometry",)),
    "attention-geometry/scale": Evidence(("EM.scale",)),
    "attention-geometry/models-covered": Evidence(("EM.isometry", "EM.depth_stability")),
}
