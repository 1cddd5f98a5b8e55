"""Refused inputs of the Fiber Bundle Transformer: a public name without rows fails."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import torch

from numerics.fiber_bundle import (
    FiberBundleBlock,
    GeodesicAttention,
    LanguageModel,
    MetricField,
    MetricHead,
    Phases,
    PreconditionedFeedForward,
    StandardBlock,
    TransportedValues,
    curves,
    geodesic_attention,
    grammar,
    layers,
    rounding,
    train,
    training,
)
from numerics.fiber_bundle.capacitance import cores
from numerics.fiber_bundle.connection import Connection, quarter_turn
from numerics.fiber_bundle.model import Shape
from numerics.fiber_bundle.products import NoDigits, Products
from numerics.fiber_bundle.training import NonFiniteLoss, Run, Settings
from tests.numerics.refusals.faults import Refused

ONE = torch.ones(2, 3, 5, 4, dtype=torch.float64)  # B, H, n, d
U = torch.ones(2, 3, 5, 4, 2, dtype=torch.float64)
METRIC = MetricField(ONE, U)
ABSENT = ONE.clone()
ABSENT[1, 2, 3, 0] = torch.nan
TURNS = Phases(ONE[..., :1], ONE[..., :1])
TRIPLES = torch.tensor([[0, 1, 2]])
X = torch.ones(2, 5, 12)
BLOCK, PLAIN_BLOCK, HEAD = FiberBundleBlock(12, 3, 8), StandardBlock(12, 3, 8), MetricHead(12, 3, 2)
FIELD = HEAD(X)
SHAPE = Shape("fiber-bundle", 30, length=6, width=4, heads=1, blocks=1, hidden=2, rank=1)
SETTINGS = Settings(SHAPE, training_letters=99, validation_letters=99)
MODEL = LanguageModel(SHAPE)
STANDARD = LanguageModel(SHAPE.standard_of_equal_size())
SYMBOLS = torch.zeros(1, 3, dtype=torch.int64)


def attend(points: Any = ONE, metric: Any = METRIC, values: Any = ONE, **chosen: Any) -> Any:
    return geodesic_attention(points, metric, values, **chosen)


def mask(*sizes: int) -> torch.Tensor:
    return torch.ones(*sizes, dtype=torch.bool)


BAD: Refused = {
    "fiber_bundle.attention.geodesic_attention": [
        (lambda: attend(ONE.numpy()), TypeError, "^points must be a torch tensor, got ndarray"),
        (lambda: attend(values=ONE.float()), TypeError, "^values must have the dtype of D"),
        (lambda: attend(ONE[..., :3]), ValueError, r"^metric.D must have shape.*d = 3.*5, 4\)"),
        (lambda: attend(ONE[0]), ValueError, r"^points must have shape \(B, H, n, d\)"),
        (lambda: attend(metric=ONE), TypeError, "^metric must be a MetricField, got Tensor"),
        (lambda: attend(values=ONE[:, :, :4]), ValueError, "^values must have shape.*n = 5"),
        (lambda: attend(ABSENT), ValueError, r"^points must be finite, got nan at \(1, 2, 3, 0\)"),
        (lambda: attend(values=ABSENT), ValueError, "^values must be finite, got nan"),
        (lambda: attend(ABSENT, allowed=mask(5, 5)), ValueError, "^points must be finite where"),
        (lambda: attend(values=ABSENT, allowed=mask(5, 5)), ValueError, "^values must be finite"),
        (lambda: attend(kind="key"), ValueError, "^kind must be one of query, symmetr.*'key'"),
        (lambda: attend(scale=0.0), ValueError, "^scale must be positive, got 0.0"),
        (lambda: attend(scale=float("nan")), ValueError, "^scale must be finite, got nan"),
        (lambda: attend(scale="1"), TypeError, "^scale must be a real number, got str"),
        (lambda: attend(causal=1), TypeError, "^causal must be a bool, got int"),
        (lambda: attend(allowed=ONE[0, 0]), TypeError, "^allowed must be boolean.*float64"),
        (lambda: attend(allowed=mask(5, 4)), ValueError, r"^allowed must have shape.*\(5, 4\)"),
        (lambda: attend(allowed=mask(3, 1, 5, 5)), ValueError, r"^allowed.*B = 2, H = 3, n = 5"),
        (lambda: attend(phases=ONE), TypeError, "^phases must be Phases or None, got Tensor"),
        (lambda: attend(phases=Phases(ONE[:, :2], ONE[:, :2])), ValueError, "^phases.a.*H = 3"),
        (lambda: attend(values=ONE[..., :3], phases=TURNS), ValueError, "^values.*even width"),
        (lambda: attend(ONE.cumsum(-2) * 7e8 / 9), NoDigits, "^points must be nearer"),
        (lambda: attend(values=ONE * 1e308), NoDigits, "^points, metric and values must"),
    ],
    "fiber_bundle.metric_field.MetricField": [
        (lambda: MetricField(ONE.tolist(), U), TypeError, "^D must be a torch.*got list"),  # type: ignore
        (lambda: MetricField(ONE.bfloat16(), U.bfloat16()), TypeError, "^D must be float64 or fl"),
        (lambda: MetricField(ONE, U.float()), TypeError, "^U must have the dtype of D.*float32"),
        (lambda: MetricField(ONE, U[:, :, :4]), ValueError, "^U must have shape.*n = 5"),
        (lambda: MetricField(ONE[0, 0, 0], U[0, 0, 0]), ValueError, r"^D must.*\(n, d\).*\(4,\)"),
        (lambda: MetricField(ONE - 1, U), ValueError, "^D must be positive, got 0.0 at"),
        (lambda: MetricField(ABSENT, U), ValueError, "^D must be finite, got nan"),
        (lambda: MetricField(ONE, U * torch.inf), ValueError, "^U must be finite, got inf"),
        (lambda: METRIC.solve(ONE[0]), ValueError, "^v must have the shape of D"),
        (lambda: METRIC.unframe(ONE.float()), TypeError, "^w must have the dtype of D"),
        (lambda: METRIC.frame(3), TypeError, "^v must be a torch tensor, got int"),  # type: ignore
        (lambda: METRIC.at(torch.tensor([9])), IndexError, "out of.*bounds|out of range"),
    ],
    "fiber_bundle.capacitance.cores": [
        (lambda: cores(U.bfloat16()), TypeError, "^V must be float64 or float32, got torch.bfl"),
        (lambda: cores(U[0, 0, 0, 0]), ValueError, r"^V must have shape \(d, r\)"),
        (lambda: cores(U * torch.nan), ValueError, "^V must be finite, got nan"),
        (lambda: cores(U.float() * 1e20), ValueError, r"^V must be smaller: V\^T V overf"),
    ],
    "fiber_bundle.connection.quarter_turn": [
        (lambda: quarter_turn(ONE[..., :3]), ValueError, "^v must have an even last axis"),
        (lambda: quarter_turn(3), TypeError, "^v must be a NumPy array or a torch"),  # type: ignore
    ],
    "fiber_bundle.connection.Phases": [
        (lambda: Phases(ONE, ONE[..., :1]), ValueError, "^b must have shape.*k = 4"),
        (lambda: Phases(ABSENT, ONE), ValueError, "^a must be finite, got nan"),
        (lambda: Phases(ONE, ONE.float()), TypeError, "^b must have the dtype of a"),
        (lambda: Phases(ONE * 1e9, ONE * 1e6), ValueError, "^a and b must be smaller: torch"),
        (lambda: Phases(ONE * 1e300, ONE * 1e300), ValueError, "^a and b must be smaller.* inf"),
    ],
    "fiber_bundle.connection.Connection": [
        (lambda: Connection(ONE), TypeError, "^metric must be a MetricField, got Tensor"),  # type: ignore
        (lambda: Connection(METRIC, ONE), TypeError, "^phases must be Phases or None"),  # type: ignore
        (lambda: Connection(METRIC, Phases(ONE[0], ONE[0])), ValueError, "^phases must be those"),
        (lambda: Connection(METRIC).curvature(TRIPLES.float(), ONE), TypeError, "^triples.*int64"),
        (lambda: Connection(METRIC).curvature(TRIPLES[0], ONE), ValueError, r"^triples.*\(m, 3\)"),
        (lambda: Connection(METRIC).curvature(TRIPLES, ONE), ValueError, "^v must have the shape"),
        (lambda: Connection(METRIC).curvature(TRIPLES[:0], ONE), ValueError, "^triples.*m > 0"),
        (lambda: Connection(METRIC).curvature(TRIPLES, ABSENT[:, :, 3:4]), ValueError, "^v.*nan"),
        (lambda: Connection(METRIC).torsion(ONE, TRIPLES + 3), ValueError, "^triples.*n = 5 tok"),
        (lambda: Connection(METRIC).torsion(ONE[0], TRIPLES), ValueError, "^points must have"),
        (lambda: Connection(METRIC).torsion(ABSENT, TRIPLES), ValueError, "^points must be finite"),
        (lambda: Connection(METRIC).holonomy_angle(-TRIPLES), ValueError, "^triples must be"),
        (lambda: Connection(METRIC).transport(0, TRIPLES[0], ONE), TypeError, "^i must be an in"),  # type: ignore
    ],
    "fiber_bundle.layers.check_tokens": [
        (lambda: layers.check_tokens(3, 4, X), TypeError, "^x must be a torch tensor"),  # type: ignore
        (lambda: layers.check_tokens(X.half(), 12, X.half()), TypeError, "^x must be float64, fl"),
        (lambda: layers.check_tokens(X, 12, X.to("meta")), ValueError, "^x must be on the device"),
    ],
    "fiber_bundle.layers.head_width": [
        (lambda: layers.head_width(12, 5), ValueError, "^heads must divide width = 12, got 5"),
        (lambda: layers.head_width(0, 1), ValueError, "^width must be at least 1, got 0"),
    ],
    "fiber_bundle.layers.MetricHead": [
        (lambda: MetricHead(12, 3, 5), ValueError, "^rank must be at most 4, got 5"),
        (lambda: MetricHead(12, 3, 0), ValueError, "^rank must be at least 1, got 0"),
        (lambda: MetricHead(12, 3, 1, spread=-1.0), ValueError, "^log_range and spread must"),
        (lambda: HEAD(X.double()), TypeError, "^x must be float64.*got torch.float64"),
        (lambda: HEAD(X[0]), ValueError, r"^x must have shape \(B, n, width\) with width = 12"),
    ],
    "fiber_bundle.layers.TransportedValues": [
        (lambda: TransportedValues(9, 3, True), ValueError, "^heads must have an even width.*3"),
        (lambda: TransportedValues(12, 3, 1), TypeError, "^phases must be a bool, got int"),  # type: ignore
        (lambda: TransportedValues(12, 3, True, 0), ValueError, "^planes must be at least 1"),
        (lambda: TransportedValues(12, 3, True)(X[0], FIELD), ValueError, "^x must have shape"),
        (lambda: TransportedValues(12, 3)(X, ONE), TypeError, "^metric must be a MetricField"),  # type: ignore
    ],
    "fiber_bundle.layers.GeodesicAttention": [
        (lambda: GeodesicAttention(12, 3, "key"), ValueError, "^kind must be one of query, sym"),
        (lambda: GeodesicAttention(12, 3, transport="R"), ValueError, "^transport must be one of"),
        (lambda: GeodesicAttention(12, 3)(X[..., :5], FIELD), ValueError, "^x must have shape"),
        (lambda: GeodesicAttention(12, 2)(X, FIELD), ValueError, "^metric must be of tokens"),
    ],
    "fiber_bundle.layers.PreconditionedFeedForward": [
        (lambda: PreconditionedFeedForward(12, 3, 0), ValueError, "^hidden must be at least 1"),
        (lambda: PreconditionedFeedForward(12, 2, 4)(X, FIELD), ValueError, "^v must have the sh"),
    ],
    "fiber_bundle.blocks.FiberBundleBlock": [
        (lambda: FiberBundleBlock(12, 3, 8, rank=9), ValueError, "^rank must be at most 4"),
        (lambda: BLOCK(X * torch.nan), ValueError, "^x must be finite, got nan"),
        (lambda: BLOCK(X, mask(4, 4)), ValueError, r"^allowed must have shape.*n = 5.*\(4, 4\)"),
        (lambda: BLOCK(X, X), TypeError, "^allowed must be boolean"),
        (lambda: BLOCK(X[:1], mask(2, 1, 5, 5)), ValueError, r"^allowed must.*B = 1.*\(2, 1, "),
        (lambda: BLOCK(X, mask(1, 1, 5, 5)), ValueError, r"^allowed must.*B = 2.*\(1, 1, "),
        (lambda: BLOCK(X, causal=1), TypeError, "^causal must be a bool, got int"),
        (lambda: BLOCK.geometry(X[0]), ValueError, "^x must have shape"),
    ],
    "fiber_bundle.blocks.StandardBlock": [
        (lambda: StandardBlock(12, 5, 8), ValueError, "^heads must divide width"),
        (lambda: PLAIN_BLOCK(X * torch.inf), ValueError, "^x must be finite, got inf"),
        (lambda: PLAIN_BLOCK(X, mask(3, 5, 5)), ValueError, r"^allowed.*got \(3, 5, 5\)"),
        (lambda: PLAIN_BLOCK(X[:1], mask(2, 1, 5, 5)), ValueError, r"^allowed.*B = 1.*\(2, 1, 5"),
        (lambda: PLAIN_BLOCK(X, mask(2, 2, 5, 5)), ValueError, r"^allowed.*H = 3.*\(2, 2, 5, 5"),
        (lambda: PLAIN_BLOCK(X, causal=1), TypeError, "^causal must be a bool, got int"),
    ],
    "fiber_bundle.model.Shape": [
        (lambda: Shape("other", 30), ValueError, "^kind must be one of fiber-bundle, standard"),
        (lambda: replace(SHAPE, scores="key"), ValueError, "^scores must be one of"),
        (lambda: replace(SHAPE, transport=""), ValueError, "^transport must be one of"),
        (lambda: replace(SHAPE, vocabulary=0), ValueError, "^vocabulary must be at least 1"),
        (lambda: replace(SHAPE, rank=5), ValueError, "^rank must be at most 4, got 5"),
        (lambda: replace(SHAPE, blocks=1.0), TypeError, "^blocks must be an integer"),  # type: ignore
    ],
    "fiber_bundle.model.LanguageModel": [
        (lambda: LanguageModel(3), TypeError, "^shape must be a Shape, got int"),  # type: ignore
        (lambda: MODEL(SYMBOLS.float()), TypeError, "^symbols must be an int64 tensor, got torch"),
        (lambda: MODEL(SYMBOLS[0]), ValueError, r"^symbols must have shape \(B, n\) with n <= 6"),
        (lambda: MODEL(SYMBOLS.tile(1, 3)), ValueError, r"^symbols must have.*got \(1, 9\)"),
        (lambda: MODEL(SYMBOLS - 1), ValueError, "^symbols must be at least 0 and below V = 30"),
        (lambda: MODEL(SYMBOLS + 30), ValueError, "^symbols.*got 30 to 30"),
        (lambda: STANDARD.geometry(SYMBOLS), TypeError, "^a standard model has no metrics"),
    ],
    "fiber_bundle.products.Products": [
        (lambda: Products.of(ONE[0].cumsum(1) * 7e8 / 9, ONE[0], U[0], 1.0), NoDigits, "^points"),
    ],
    "fiber_bundle.rounding.score_error": [
        (lambda: rounding.score_error(ONE, METRIC, 1.0, "key"), ValueError, "^kind must be one of"),
        (lambda: rounding.score_error(ONE[0], METRIC, 1.0), ValueError, "^points must have shape"),
        (lambda: rounding.score_error(ABSENT, METRIC, 1.0), ValueError, "must be finite, got nan"),
    ],
    "fiber_bundle.rounding.attention_error": [
        (lambda: rounding.attention_error(ONE, METRIC, ONE, ONE, 1.0), ValueError, "^scores"),
    ],
    "fiber_bundle.grammar.sentence": [
        (lambda: grammar.sentence(3), TypeError, "^draw must be a random.Random, got int"),  # type: ignore
    ],
    "fiber_bundle.grammar.text": [
        (lambda: grammar.text(-1, 9), ValueError, "^seed must be at least 0, got -1"),
        (lambda: grammar.text(0, 0), ValueError, "^size must be at least 1, got 0"),
    ],
    "fiber_bundle.grammar.encode": [
        (lambda: grammar.encode("a?"), ValueError, r"^letters must be of the alphabet.*got '\?'"),
        (lambda: grammar.encode(3), TypeError, "^letters must be text, got int"),  # type: ignore
    ],
    "fiber_bundle.grammar.unigram_entropy": [
        (lambda: grammar.unigram_entropy(""), ValueError, "^letters must not be empty"),
        (lambda: grammar.unigram_entropy(b"a"), TypeError, "^letters must be text"),  # type: ignore
    ],
    "fiber_bundle.training.Settings": [
        (lambda: replace(SETTINGS, shape=3), TypeError, "^shape must be a Shape, got int"),  # type: ignore
        (lambda: replace(SETTINGS, steps=0), ValueError, "^steps must be at least 1, got 0"),
        (lambda: replace(SETTINGS, rate=0.0), ValueError, "^rate must be positive, got 0.0"),
        (lambda: replace(SETTINGS, training_letters=6), ValueError, "^training_letters.*least 7"),
        (lambda: replace(SETTINGS, shape=replace(SHAPE, vocabulary=9)), ValueError, "^shape mu"),
    ],
    "fiber_bundle.training.Run": [
        (lambda: Run(SHAPE), TypeError, "^settings must be Settings, got Shape"),  # type: ignore
        (lambda: Run(SETTINGS).restore(Path(__file__)), ValueError, "must be a checkpoint of this"),
        (lambda: Run(SETTINGS).restore(Path("absent")), FileNotFoundError, "absent"),
    ],
    "fiber_bundle.curves.record": [
        (lambda: curves.record([]), ValueError, "^runs must not be empty"),
    ],
    "fiber_bundle.curves.geometry": [
        (lambda: curves.geometry(3), TypeError, "^run must be a Run, got int"),  # type: ignore
        (lambda: curves.geometry(Run(SETTINGS), 0), ValueError, "^count must be at least 1"),
    ],
    "fiber_bundle.curves.load": [
        (lambda: curves.load(Path(__file__)), ValueError, "must hold a record of curves"),
    ],
    "fiber_bundle.train.parse": [(lambda: train.parse(["--scores", "key"]), SystemExit, "2")],
    "fiber_bundle.train.plan": [
        (lambda: train.plan(train.parse(["--width", "6"])), ValueError, "^heads must divide"),
        (lambda: train.plan(train.parse(["--steps", "0"])), ValueError, "^steps must be at least"),
    ],
}  # fmt: skip
PLAIN = {  # exceptions, results, and what takes what was checked before
    "fiber_bundle.products.NoDigits", "fiber_bundle.training.NonFiniteLoss",
    "fiber_bundle.capacitance.Cores", "fiber_bundle.tiles.Visibility",
    "fiber_bundle.tiles.Rows", "fiber_bundle.metric_field.along",
    "fiber_bundle.metric_field.spread", "fiber_bundle.tiles.tiled_attention",
    "fiber_bundle.layers.split_heads", "fiber_bundle.layers.merge_heads",
    "fiber_bundle.blocks.visible_pairs", "fiber_bundle.blocks.needed",
    "fiber_bundle.training.training_text", "fiber_bundle.training.validation_text",
    "fiber_bundle.curves.save", "fiber_bundle.curves.final", "fiber_bundle.curves.lines",
    "fiber_bundle.curves.outcome", "fiber_bundle.curves.plot",
    "fiber_bundle.curves.picture", "fiber_bundle.train.train_all", "fiber_bundle.train.main",
}  # fmt: skip
SOUND = [
    lambda: attend(allowed=mask(5, 5), phases=TURNS, causal=True).shape == ONE.shape,
    lambda: BLOCK(X, mask(2, 3, 5, 5)).shape == PLAIN_BLOCK(X, mask(5, 5), True).shape == X.shape,
    lambda: Connection(METRIC, TURNS).torsion(ONE, TRIPLES).shape == (2, 3, 1, 4),
    lambda: MODEL(SYMBOLS).shape == STANDARD(SYMBOLS).shape == (1, 3, 30),
    lambda: grammar.sentence(Random(0)).endswith("."),
    lambda: issubclass(NonFiniteLoss, ArithmeticError),
    lambda: training.training_text(SETTINGS) != training.validation_text(SETTINGS),
]
