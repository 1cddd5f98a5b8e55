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
        r"It is the readout of $\exp(q^{\top} M k)$ on the empirical world of a sequence; softmax "
        r"weights are the unique maximiser of score plus entropy.",
    ),
    Claim(
        "attention-pairings/why-exponential",
        "The framework leads to these architectures naturally.",
        r"A nonnegative pairing, not identically 0, separately continuous and multiplicative in "
        r"each variable is $\exp(q^{\top} M k)$.",
    ),
    Claim(
        "attention-pairings/causal-attention",
        "Causal attention comes out of the framework.",
        r"It is the readout along an increasing family of worlds: the output at $t$ does not "
        r"depend on later tokens.",
    ),
    Claim(
        "attention-pairings/linear-attention",
        "Linear attention comes out of the framework.",
        r"It is the readout of a pairing of finite rank, for which two moments of the world are "
        r"a sufficient statistic.",
    ),
    Claim(
        "attention-pairings/tensor-attention",
        "Tensor attention comes out of the framework.",
        r"It is the readout of a pairing of a query with pairs of keys on the product world.",
    ),
    Claim(
        "attention-pairings/recurrent-networks",
        "Recurrent neural networks come out of the framework.",
        r"Causal readouts of finite-rank pairings are exactly linear recurrences with the moments "
        r"as state, with decay and with overwriting.",
        note="No linear recurrence of fixed state realises causal softmax attention at all "
        "lengths.",
    ),
    Claim(
        "attention-pairings/new-spaces",
        "New geometric spaces are given on which attention could be built.",
        r"On spheres, hyperbolic space, positive definite matrices, Grassmannians, rotations and "
        r"products of them the pairing is invariant and the readout equivariant under isometries.",
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
        ("AP2.positive", "AP2.additive", "AP2.bilinear"),
        added=("separate continuity", "multiplicative in the query and in the key"),
        without=("AP2.needed", "AP2:queries_only", "AP2:zero_pairing"),
    ),
    "attention-pairings/causal-attention": Evidence(
        ("AP3.prefix", "AP3.growth", "AP3.mask_limit", "AP3.renormalised")
    ),
    "attention-pairings/linear-attention": Evidence(
        ("AP4.reassociation", "AP4.moments", "AP4.counts"),
        added=("the pairing stays nonnegative, or the normaliser can vanish",),
        without=("AP4.positivity", "AP4:signed_features"),
    ),
    "attention-pairings/tensor-attention": Evidence(
        ("AP6.product_world", "AP6.constant", "AP6.finite_rank", "AP6.prefix")
    ),
    "attention-pairings/recurrent-networks": Evidence(
        ("AP5.handover", "AP5.decays", "AP5.delta_rule", "AP5.blocks", "AP5.realisation"),
        added=("the recurrence is linear in its state", "the pairing has finite rank"),
        without=("AP5.softmax", "AP5.distinct_keys"),
    ),
    "attention-pairings/new-spaces": Evidence(
        ("AP8",),
        added=("points in a convex ball, or distinct eigenvalues, where means are not unique",),
        without=("AP8",),
    ),
    "attention-pairings/new-architectures": Evidence(("AP8",)),
}
