"""Which theorem lives where: a row names `theorems/<row>.py` and the property of the same slug."""

from importlib import import_module
from importlib.util import find_spec

from theorems.statement import Theorem

CATALOGUE = {
    "CW1": "connection_walks.constant_transport",
    "CW2": "connection_walks.gated_mixture",
    "CW3": "connection_walks.edge_gauge",
    "CW4": "connection_walks.head_count",
    "CW5": "connection_walks.laplacian_reduction",
    "CW6": "connection_walks.single_head_laplacian",
    "CW7": "connection_walks.rigidity",
    "CW8": "connection_walks.reversibility",
    "CW9": "connection_walks.reversibility_defects",
    "CW10": "connection_walks.holonomy",
    "CW11": "connection_walks.depth",
    "CW12": "connection_walks.scaled_isometries",
    "CW13": "connection_walks.defect_spectra",
    "CW14": "connection_walks.continuum_limit",
    "RA1": "riemannian_attention.score_rank",
    "RA2": "riemannian_attention.exact_rank",
    "RA3": "riemannian_attention.rank_spectrum",
    "RA4": "riemannian_attention.softmax_separation",
    "RA5": "riemannian_attention.distance_matrices",
    "RA6": "riemannian_attention.woodbury",
    "RA7": "riemannian_attention.distance_cost",
    "RA8": "riemannian_attention.geodesic_chords",
    "RA9": "riemannian_attention.preconditioned_step",
    "RA10": "riemannian_attention.frame_connections",
    "RA11": "riemannian_attention.rank_collapse",
    "RA12": "riemannian_attention.collapse_threshold",
    "RA13": "riemannian_attention.composite_norm",
    "RA14": "riemannian_attention.fiber_bundle_block",
    "RA15": "riemannian_attention.geodesic_reversibility",
    "RA16": "riemannian_attention.residual_streams",
    "RA17": "riemannian_attention.causal_collapse",
    "RA18": "riemannian_attention.kernel_sense",
    "AP1": "attention_pairings.gibbs_weights",
    "AP2": "attention_pairings.exponential_pairing",
    "AP3": "attention_pairings.filtrations",
    "AP4": "attention_pairings.linear_attention",
    "AP5": "attention_pairings.recurrences",
    "AP6": "attention_pairings.tensor_attention",
    "AP7": "attention_pairings.feature_maps",
    "AP8": "attention_pairings.geometric_spaces",
    "AP9": "attention_pairings.equivariance",
    "AP10": "attention_pairings.variational_readout",
}
PLANNED: frozenset[str] = frozenset()  # ids with a specification and no module yet
CITABLE: dict[str, tuple[str, ...]] = {  # theorem -> ids of the axioms it may cite
    "CW9": ("Perron-Frobenius",),
    "CW14": ("Singer-Wu",),
    "RA1": ("generic-nonvanishing",),
    "RA2": ("generic-nonvanishing",),
    "RA3": ("Micchelli",),
    "RA5": ("Schoenberg",),
    "RA8": ("geodesics-minimise",),
    "RA12": ("infinite-product",),
    "RA16": ("infinite-product",),
    "RA17": ("linear-recursion",),
    "RA18": ("Schoenberg",),
    "AP2": ("Cauchy",),
    "AP5": ("total-positivity",),
    "AP8": ("Cartan", "Afsari"),
}


def load(identifier: str) -> Theorem:
    """The theorem of an id; ValueError names the missing half or the unknown id."""
    if identifier not in CATALOGUE:
        state = "planned, not built yet" if identifier in PLANNED else "unknown"
        raise ValueError(f"theorem {identifier} is {state}; built: {', '.join(CATALOGUE)}")
    module = f"theorems.{CATALOGUE[identifier]}"
    for half in (module, property_module(identifier)):
        if find_spec(half) is None:
            raise ValueError(f"{identifier}: {half.replace('.', '/')}.py is missing")
    if (theorem := import_module(module).THEOREM).id != identifier:
        raise ValueError(f"{identifier}: {module.replace('.', '/')}.py defines {theorem.id}")
    return theorem


def property_module(identifier: str) -> str:
    """The name of the module with the theorem's numeric property."""
    return f"numerics.properties.{CATALOGUE[identifier].rpartition('.')[2]}"
