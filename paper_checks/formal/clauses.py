"""Which clauses the formal proofs cover: whole ones have level K, of the others a part is proved.

Every theorem of formal/statements.v hangs on one clause; here stands how much of it is said there.
"""

WHOLE: dict[str, tuple[str, ...]] = {  # theorem -> clauses of which everything is proved
    "CW1": (
        "constant_transport",
        "kronecker",
        "biases",
        "masks_and_sinks",
        "logits_of_a_walk",
        "inner_width",
        "token_logits",
        "value_width",
    ),
    "CW2": (
        "gates",
        "gates_are_weights",
        "off_support",
        "row_sums",
        "convex_mixture",
        "constancy",
        "two_heads",
        "three_heads",
        "grouped_query",
    ),
    "CW3": ("same_operator", "frobenius", "what_changes", "what_stays", "node_gauge"),
    "CW4": ("block_row_sums", "column_space", "no_positive", "positive_heads"),
    "CW5": ("energy",),
    "CW6": ("involution", "orthogonal"),
    "CW7": ("gates", "identity", "isometry", "contraction"),
    "CW8": ("kolmogorov",),
    "CW10": (
        "fundamental_cycles",
        "closed_walks",
        "complete_graph",
        "spectrum",
        "constant_transport",
    ),
    "CW11": ("two_layers", "paths"),
    "CW12": ("generator", "isometric_walk", "laplacian", "remainder", "remainder_size"),
    "CW13": ("imaginary", "real"),
    "RA1": ("features", "upper_bound", "after_softmax", "symmetrised"),
    "RA2": ("one_token",),
    "RA3": ("widths", "bilinear"),
    "RA4": ("centred", "width", "invertible", "column_terms"),
    "RA5": ("squared",),
    "RA6": ("capacitance", "inverse", "determinant", "pair", "residuals"),
    "RA9": ("lengths", "cauchy_schwarz", "model"),
    "RA11": ("dobrushin", "row_spreads", "ball"),
    "RA13": ("two_norms", "submultiplicative"),
    "RA17": ("token_k", "row_weights", "uniform", "quotients"),
    "RA18": ("conditional", "homogeneous"),
    "AP1": ("softmax", "elementary"),
    "AP3": ("growth", "prefix", "mask_limit", "all_masked", "empty", "renormalised", "alignment"),
    "AP4": ("reassociation", "moments", "counts", "positivity"),
    "AP5": ("handover", "decays", "delta_rule", "overwriting"),
    "AP6": ("product_world", "factor", "finite_rank", "prefix"),
    "AP9": ("queries", "world", "affine", "hull", "signed"),
    "AP10": ("least", "stationary"),
}
PART: dict[str, str] = {  # theorem.clause -> what its formal statement leaves out
    "RA3.subspace": "the remark on LayerNorm",
    "RA2.certificate": "the value of the determinant (only that it is not 0) and the count "
    "of tokens where every pair is an edge",
    "RA11.cubic": "that attention meets its hypotheses: the clauses on layers and on scores",
    "RA11.quadratic": "that attention meets its hypotheses: the clauses on layers and on scores",
}
