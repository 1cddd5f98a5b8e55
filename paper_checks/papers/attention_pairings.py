"""`attention-pairings`: attention as the readout of a pairing on a knowledge world."""

from __future__ import annotations

from paper_checks.claims import Claim, Evidence

CLAIMS = (
    Claim(
        "attention-pairings/definitions",
        "Knowledge worlds and attention pairings can be made into formal notions.",
        r"A world is a finite measure $\mu$ on keys and values, a pairing a kernel "
        r"$\kappa(q, k) \ge 0$, the readout their weighted mean: it is the variational "
        r"minimiser, equivariant in the values and a Lipschitz function of the world.",
        note="The definitions are ours; the abstract gives only the words.",
    ),
    Claim(
        "attention-pairings/standard-attention",
        "Standard attention comes out of the framework.",
        r"By the definition of a readout: that of the pairing $\exp(q^{\top} M k)$ on the "
        r"empirical world $\sum_j \delta_{(k_j, v_j)}$ of a sequence is softmax attention, whose "
        r"weights are the unique maximiser of score plus entropy.",
    ),
    Claim(
        "attention-pairings/why-exponential",
        "The framework leads to these architectures naturally.",
        r"By the definition of a pairing, a kernel $\kappa(q, k) \ge 0$: one that is not "
        r"identically 0, separately continuous and multiplicative in each variable is "
        r"$\exp(q^{\top} M k)$.",
    ),
    Claim(
        "attention-pairings/causal-attention",
        "Causal attention comes out of the framework.",
        r"By the definition of a filtration, an increasing family of worlds $\mu_1 \le \mu_2 \le "
        r"\ldots$: it is the readout of query $t$ in the world $\mu_t$, and does not depend on "
        r"later tokens.",
    ),
    Claim(
        "attention-pairings/linear-attention",
        "Linear attention comes out of the framework.",
        r"By the definition of a pairing of finite rank, $\kappa(q, k) = \langle \phi(q), "
        r"\psi(k) \rangle$ with $m$ features: two moments of the world are a sufficient "
        r"statistic for its readouts, and where $\kappa$ has rank $m$ no fewer linear ones are.",
    ),
    Claim(
        "attention-pairings/tensor-attention",
        "Tensor attention comes out of the framework.",
        r"By the definition of a product world, $\mu \times \mu$ on pairs of tokens: it is the "
        r"readout of a pairing of a query with pairs of keys.",
    ),
    Claim(
        "attention-pairings/recurrent-networks",
        "Recurrent neural networks come out of the framework.",
        r"By the definitions of a filtration and of a pairing with $m$ features: the moments of "
        r"the worlds obey a linear recurrence, also with decay and with overwriting, and a causal "
        r"linear map is $y_t = c_t^{\top} h_t$, $h_t = A_t h_{t-1} + b_t x_t$ with $m$ numbers "
        r"$h_t$ iff its blocks have rank at most $m$.",
        note="No linear recurrence of fixed state realises causal softmax attention at all "
        "lengths.",
    ),
    Claim(
        "attention-pairings/new-spaces",
        "New geometric spaces are given on which attention could be built.",
        r"On spheres, hyperbolic space, positive definite matrices, Grassmannians, rotations and "
        r"products of them the pairing is invariant and the readout equivariant under isometries. "
        r"By the definitions of a pairing, of isometry-invariant scores, and of a readout: a "
        r"Fréchet mean, a tangent readout at the query, or an ambient one. With vanishing "
        r"curvature it is tied dot-product attention with the column term $-|k|^2 / (2 \tau)$.",
    ),
    Claim(
        "attention-pairings/new-architectures",
        "Such spaces may inspire architectures of neural networks that are new.",
        r"An outlook: no theorem says whether an architecture is useful.",
        kind="open",
        settled_by="trained models on these spaces, compared with standard ones of equal size",
    ),
)

EVIDENCE = {
    "attention-pairings/definitions": Evidence(
        ("AP9.world", "AP9.queries", "AP9.affine", "AP10.least", "AP10.stability")
    ),
    "attention-pairings/standard-attention": Evidence(("AP1.gibbs", "AP1.unique", "AP2.attention")),
    "attention-pairings/why-exponential": Evidence(
        ("AP2.positive", "AP2.additive", "AP2.coordinates", "AP2.linear", "AP2.bilinear"),
        added=("separate continuity", "multiplicative in the query and in the key"),
        without=("AP2.needed", "AP2:queries_only", "AP2:zero_pairing"),
    ),
    "attention-pairings/causal-attention": Evidence(
        ("AP3.prefix", "AP3.growth", "AP3.mask_limit", "AP3.renormalised")
    ),
    "attention-pairings/linear-attention": Evidence(
        ("AP4.reassociation", "AP4.moments", "AP4.counts", "AP4.converse"),
        added=("the pairing stays nonnegative, or the normaliser can vanish",),
        without=("AP4.positivity", "AP4:signed_features"),
    ),
    "attention-pairings/tensor-attention": Evidence(
        ("AP6.product_world", "AP6.constant", "AP6.finite_rank", "AP6.prefix")
    ),
    "attention-pairings/recurrent-networks": Evidence(
        (
            "AP5.handover",
            "AP5.decays",
            "AP5.delta_rule",
            "AP5.blocks",
            "AP5.realisation",
            "AP5.padding",
        ),
        added=("the recurrence is linear in its state", "the pairing has finite rank"),
        without=("AP5.softmax", "AP5.distinct_keys"),
    ),
    "attention-pairings/new-spaces": Evidence(
        (
            "AP8.pairing",
            "AP8.minimisers",
            "AP8.quadrics",
            "AP8.products",
            "AP8.tangent_readout",
            "AP8.normalised_mean",
            "AP8.hyperboloid",
            "AP8.congruences",
            "AP8.arithmetic_mean",
            "AP8.definite_tangent",
            "AP8.log_euclidean",
            "AP8.grassmannian",
            "AP8.eigenprojector",
            "AP8.rotations",
            "AP8.polar_factor",
            "AP8.frechet",
            "AP8.flat",
            "AP8.zero_curvature",
        ),
        added=(
            "values in a convex ball on spheres, rotations and Grassmannians, where Fréchet means "
            "are not unique in general",
            "an eigengap for eigenprojectors, an invertible mean for polar factors",
            "inner products as scores only where isometries keep them: not on positive definite "
            "matrices",
            "log-Euclidean: rotations, scaling and inversion only; arithmetic means: congruences "
            "only",
        ),
        without=(
            "AP8.antipodal",
            "AP8:antipodal_mean",
            "AP8:no_eigengap",
            "AP8:trace_of_definite",
            "AP8:any_congruence",
            "AP8:mean_of_inverses",
            "AP8:fixed_base",
            "AP8:mean_on_hyperboloid",
            "AP8:no_column_term",
        ),
    ),
    "attention-pairings/new-architectures": Evidence(("AP8.pairing", "AP8.minimisers")),
}
