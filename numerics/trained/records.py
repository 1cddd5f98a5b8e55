"""What a run writes down: frozen records, with JSON both ways, and their long table.

  Header       the first line of measurements.jsonl: what tells one run from another;
  LayerRecord  every further line: the identity of one layer, and its measurements as rows;
  Summary      summary.json: a header, the numbers of all layers, and the statements on them.

`table` puts the rows of all layers under one another, a row a measurement. Reading is strict: a
field that is missing, unknown or of another type is refused by its path.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from numerics.trained.refusals import optional_module

if TYPE_CHECKING:
    from polars import DataFrame

Interval = tuple[float, float, float]
"""A mean with the 2.5% and 97.5% points of its bootstrap."""
ByText = tuple[tuple[float | None, ...], ...]
"""(layers, texts), or (layers, models); None where undefined."""


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Frozen; in JSON an object of its fields, no more and no fewer but for defaults."""


# ---- a run ----


class ModelFacts(Record, frozen=True, kw_only=True):
    """The model measured: width d, query heads, layers in all and measured, stored parameters.

    stored_types counts tensors by the type that the file stores.
    """

    name: str
    architecture: str
    causal: bool
    d: int
    heads: int
    layers: int
    layers_measured: int
    parameters: int
    stored_types: dict[str, int]
    quantised: bool


class TextFacts(Record, frozen=True, kw_only=True):
    """A text: its digest, its tokens in all, and the n of them that were measured."""

    sha256: str
    tokens_in_text: int
    n: int


class Arguments(Record, frozen=True, kw_only=True):
    """Draws of each control, and the seed of all draws."""

    draws: int
    seed: int


class Run(Record, frozen=True, kw_only=True):
    """What was measured, with which arguments, by which code; sha256 by file."""

    model: ModelFacts
    sha256: dict[str, str]
    texts: tuple[TextFacts, ...]
    arguments: Arguments
    versions: dict[str, str]
    commit: str | None


class Header(Run, frozen=True, tag_field="kind", tag="run"):
    """The first line of measurements.jsonl."""


# ---- a layer ----


class LayerIdentity(Record, frozen=True, kw_only=True):
    """Parity and identity of one layer, relative errors; `measures.identity` says of what."""

    layer: int
    parity_attention: float
    parity_layer: float
    edges: float
    matrices: float
    surrogate: float
    rows_formed: int
    row_sum_deviation: float
    ok: bool


class Module(Record, frozen=True, kw_only=True):
    """The shape of an attention module and of what was measured of it.

    H query heads, their value heads, the inner width d_h, the width d; at most `joined_values`
    nonzero singular values of a sum of transports; `pairs` of tokens under `functional`.
    """

    heads: int
    value_heads: int
    inner: int
    d: int
    joined_values: int
    pairs: int


class Row(Record, frozen=True, kw_only=True, omit_defaults=True):
    """One measurement in a layer. What does not apply is None.

    section  transports, reversibility, depth or collapse: the module of `measures` that says
             what `measure` is;
    kind     whose: trained, or the control, stack or reference it stands beside;
    view     whole, no_sinks (sinks removed) or reduced (sinks and diagonal removed);
    text, head  numbered from 0; no head: the head mean, or the module as a whole;
    member   which model of a control, edge of `mixed`, or direction of `spectrum`;
    value    the number; of a control that is drawn the median, with its 5% and 95% points
             `low` and `high`; None where undefined, and then `reason` says why.
    """

    section: str
    measure: str
    kind: str
    view: str | None = None
    text: int | None = None
    head: int | None = None
    member: int | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


class LayerRecord(Record, frozen=True, kw_only=True, tag_field="kind", tag="layer"):
    """All that is measured of one layer."""

    layer: int
    identity: LayerIdentity
    module: Module
    rows: tuple[Row, ...]


# ---- the numbers of all layers ----


class IdentityNumbers(Record, frozen=True, kw_only=True):
    """The largest errors over the layers, and what the surrogate misses in each."""

    layers: int
    edges: float
    matrices: float
    surrogate: tuple[float, ...]


class Against(Record, frozen=True, kw_only=True):
    """A spread against one control: its mean, [median, 5%, 95%] by layer, own value / median.

    below_5 and above_95 are the shares of own values beyond the points of the control.
    """

    control: float | None
    control_by_layer: tuple[tuple[float | None, float | None, float | None], ...]
    ratio: Interval | None
    below_5: float | None
    above_95: float | None


class Spread(Record, frozen=True, kw_only=True):
    """A spread of singular values or lengths; `left_out` values are undefined."""

    value: Interval | None
    by_layer: tuple[float | None, ...]
    left_out: int
    controls: dict[str, Against]


class TransportNumbers(Record, frozen=True, kw_only=True):
    """Spreads by measure; `theory` is sqrt(d_h / 2d), the CV of gaussian factors for d_h << d.

    floor is the least relative distance of a transport from scaled isometries of all of R^d.
    cv_folded is among the spreads where a norm precedes attention.
    """

    heads: int
    value_heads: int
    inner: int
    d: int
    joined_values: int
    theory: float
    floor: float
    gaussian_over_theory: float | None
    spreads: dict[str, Spread]


class Untrained(Record, frozen=True, kw_only=True):
    """Differences of `heads` heads from the median over norm-matched models at their layer."""

    heads: int
    median: float | None
    difference: Interval | None


class Defect(Record, frozen=True, kw_only=True):
    """A defect of reversibility beside shuffled rows: means over texts, intervals over heads.

    Of all walks, `walks` have a value and a control, `no_structure` are 0/0 and `undefined` have
    no law, no logits or no control. The rest counts rows and draws that were dropped.
    """

    value: Interval | None
    control: Interval | None
    difference: Interval | None
    below_5: float | None
    above_95: float | None
    walks: int
    undefined: int
    no_structure: int
    empty_rows: int
    draws_lost: int
    untrained: Untrained | None = None


class Noise(Record, frozen=True, kw_only=True):
    """What walks and logits without structure give at n tokens."""

    n: int
    centred: float
    curl: float


class ReversibilityNumbers(Record, frozen=True, kw_only=True):
    """Defects by view and measure, of all heads and of the head means."""

    heads: dict[str, dict[str, Defect]]
    head_mean: dict[str, dict[str, Defect]]
    noise: tuple[Noise, ...]


class Drawn(Record, frozen=True, kw_only=True):
    """Control models: their mean for each text, and each model's mean over the texts."""

    by_text: ByText
    by_model: ByText | None = None


class DepthTable(Record, frozen=True, kw_only=True):
    """One comparison of the walks of consecutive layers, a row a transition."""

    trained: ByText
    other_text: ByText
    initialised: Drawn
    matched: Drawn


class DepthNumbers(Record, frozen=True, kw_only=True):
    """Comparisons by view and measure over `transitions` pairs of layers."""

    transitions: int
    views: dict[str, dict[str, DepthTable]]


class Distances(Record, frozen=True, kw_only=True):
    """How far apart tokens are, entering layer 0 and after each layer."""

    relative: ByText
    osc: ByText


class Stack(Record, frozen=True, kw_only=True):
    """A pure stack after each layer; `spread` is what RA11 bounds, `floor` its rounding.

    The stack that keeps the norm has no bound.
    """

    relative: ByText
    spread: ByText
    floor: ByText
    factor: ByText | None = None
    spread_factor: ByText | None = None
    bound: ByText | None = None


class CollapseNumbers(Record, frozen=True, kw_only=True):
    """Distances of the model by view, of control models by kind and view (relative), of stacks.

    `bounded` names the spread that RA11 bounds: osc, or from_first in causal models.
    """

    bounded: Literal["osc", "from_first"]
    trained: dict[str, Distances]
    models: dict[str, dict[str, ByText]]
    stacks: dict[str, Stack]


class Numbers(Record, frozen=True, kw_only=True):
    """The numbers of a run, all that the decision rules read; reversibility, or why it has none."""

    identity: IdentityNumbers
    transports: TransportNumbers
    reversibility: ReversibilityNumbers | str
    depth: DepthNumbers
    collapse: CollapseNumbers


# ---- the summary ----


class Statement(Record, frozen=True):
    """One measurement's id, its verdict (`decisions` lists them), the sentence with its numbers."""

    id: str
    outcome: str
    text: str

    @property
    def line(self) -> str:
        """As it is printed."""
        return f"{self.outcome}: {self.text}"


class Thresholds(Record, frozen=True, kw_only=True):
    """What parity and identity must stay below."""

    parity: float
    identity: float


class Summary(Run, frozen=True, kw_only=True):
    """summary.json; `norm` is that of the errors in `layers`, `ok` that all are below."""

    norm: str
    thresholds: Thresholds
    layers: tuple[LayerIdentity, ...]
    numbers: Numbers
    statements: tuple[Statement, ...]
    ok: bool


# ---- JSON ----

R = TypeVar("R", bound=Record)


def plain(record: Record) -> Any:
    """The record as JSON's objects, arrays and values; floats as they are."""
    return msgspec.to_builtins(record)


def text_of(record: Record) -> str:
    """The record as a file of JSON, indented, with sorted keys.

    Raises: ValueError for NaN and infinities, which JSON has not.
    """
    return json.dumps(plain(record), indent=1, sort_keys=True, allow_nan=False) + "\n"


def read(kind: type[R], content: object) -> R:
    """The record of a kind in JSON's objects, arrays and values.

    Raises: ValueError, with the path, where a field is missing, unknown or of another type.
    """
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error


def read_text(kind: type[R], text: str) -> R:
    """The record of a kind in a text of JSON.

    Raises: ValueError as `read`, and for what is no JSON.
    """
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from error


# ---- the long table ----

NUMBERED = ("layer", "text", "head", "member")
MEASURED = ("value", "low", "high")
COLUMNS = ("layer", "section", "measure", "kind", "view", "text", "head", "member", *MEASURED,
           "reason")  # fmt: skip


def table(records: Sequence[LayerRecord]) -> DataFrame:
    """The rows of all records as a polars table: the columns of `Row` behind their layer.

    Raises: Refused without polars.
    """
    pl = optional_module("polars")
    types = {
        name: pl.Int64 if name in NUMBERED else pl.Float64 if name in MEASURED else pl.String
        for name in COLUMNS
    }
    cells = [
        (record.layer, *(getattr(row, name) for name in COLUMNS[1:]))
        for record in records
        for row in record.rows
    ]
    return pl.DataFrame(cells, schema=types, orient="row")


def select(measured: DataFrame, **where: str | int | None) -> DataFrame:
    """The rows of a table whose columns have the given values; None stands for no value."""
    pl = optional_module("polars")
    return measured.filter(
        *(pl.col(column).eq_missing(pl.lit(value)) for column, value in where.items())
    )
