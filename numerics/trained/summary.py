"""From the long table of all layers to the numbers that the decision rules read.

An interval is [mean, low, high], 95% by bootstrap over heads within layers; depth and collapse
keep their values by layer and text. What is undefined is None.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from numerics.trained.measures import collapse, controls, depth, pattern_reversibility
from numerics.trained.measures.bootstrap import interval
from numerics.trained.measures.control_models import KINDS as MODELS
from numerics.trained.records import (
    Against,
    ByText,
    CollapseNumbers,
    Defect,
    DepthNumbers,
    DepthTable,
    Distances,
    Drawn,
    IdentityNumbers,
    Interval,
    LayerIdentity,
    LayerRecord,
    Module,
    Noise,
    Numbers,
    ReversibilityNumbers,
    Spread,
    Stack,
    TransportNumbers,
    Untrained,
    plain,
    read,
    select,
    table,
)
from numerics.trained.refusals import optional_module

if TYPE_CHECKING:
    from polars import DataFrame

SPREADS = ("cv", "condition", "participation", "functional", "summed", "mixed")
FLAT = 1e-6  # a control's median below it is the rounding of 0: flat spectra have nothing to move
Groups = list[list[float | None]]


def numbers(records: Sequence[LayerRecord], causal: bool, seed: int) -> Numbers:
    """The numbers of a run, from its records in order of layers, at six significant digits."""
    rows = table(records)
    found = Numbers(
        identity=_identity([r.identity for r in records]),
        transports=_transports(select(rows, section="transports"), records[0].module, seed),
        reversibility=pattern_reversibility.CAUSAL
        if causal
        else _reversibility(select(rows, section="reversibility"), seed),
        depth=_depth(select(rows, section="depth")),
        collapse=_collapse(select(rows, section="collapse"), causal),
    )
    return read(Numbers, rounded(plain(found)))


def rounded(value: Any, digits: int = 6) -> Any:
    """The value with every float at so many significant digits."""
    if isinstance(value, dict):
        return {k: rounded(v, digits) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(v, digits) for v in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def _identity(found: Sequence[LayerIdentity]) -> IdentityNumbers:
    return IdentityNumbers(
        layers=len(found),
        edges=max(f.edges for f in found),
        matrices=max(f.matrices for f in found),
        surrogate=tuple(f.surrogate for f in found),
    )


def _transports(rows: DataFrame, module: Module, seed: int) -> TransportNumbers:
    theory = (module.inner / (2 * module.d)) ** 0.5
    gaussian = _mean(select(rows, kind="gaussian", measure="cv")["value"])
    spreads = {name: _spread(rows, name, "trained", controls.KINDS, seed) for name in SPREADS}
    if len(select(rows, kind="folded")):
        spreads["cv_folded"] = _spread(rows, "cv", "folded", ("gaussian",), seed)
    return TransportNumbers(
        heads=module.heads,
        value_heads=module.value_heads,
        inner=module.inner,
        d=module.d,
        joined_values=module.joined_values,
        theory=theory,
        floor=max(0.0, 1 - module.inner / module.d) ** 0.5,
        gaussian_over_theory=None if gaussian is None else gaussian / theory,
        spreads=spreads,
    )


def _spread(rows: DataFrame, measure: str, own: str, kinds: Sequence[str], seed: int) -> Spread:
    """Own values against every control: values, ratios to the medians, shares outside."""
    values = select(rows, kind=own, measure=measure)
    layers = _layers(values)
    by_layer = _groups(values, layers)
    pool = measure == "summed"
    return Spread(
        value=_interval(by_layer, seed, pool),
        by_layer=tuple(_mean(row) for row in by_layer),
        left_out=values["value"].null_count(),
        controls={
            kind: _against(values, select(rows, kind=kind, measure=measure), seed, pool)
            for kind in kinds
        },
    )


def _against(values: DataFrame, control: DataFrame, seed: int, pool: bool) -> Against:
    """Every value beside the control of its head, or the one control of its layer."""
    pl = optional_module("polars")
    layers = _layers(values)
    joined = _beside(values, control)
    pairs = joined.drop_nulls(["value", "median"]).filter(pl.col("median") > FLAT)
    ratios = pairs.with_columns(value=pl.col("value") / pl.col("median"))
    return Against(
        control=_mean(joined["median"]),
        control_by_layer=tuple(
            zip(
                *(
                    [_mean(row) for row in _groups(joined, layers, point)]
                    for point in ("median", "low", "high")
                ),
                strict=True,
            )
        ),
        ratio=_interval(_groups(ratios, layers), seed, pool),
        below_5=_share(pairs["value"] < pairs["low"]),
        above_95=_share(pairs["value"] > pairs["high"]),
    )


def _beside(values: DataFrame, control: DataFrame) -> DataFrame:
    """Values with the median, low and high of the control in their layer, text and head."""
    place = ["layer", "text", "head"]
    points = control.rename({"value": "median"}).select(*place, "median", "low", "high")
    return values.drop("low", "high").join(
        points, on=place, how="left", nulls_equal=True, maintain_order="left"
    )


def _reversibility(rows: DataFrame, seed: int) -> ReversibilityNumbers:
    trained, shuffled = select(rows, kind="trained"), select(rows, kind="shuffled_rows")
    means = select(trained, head=None)
    parts: dict[str, dict[str, dict[str, Defect]]] = {}
    for part, walks in (("heads", trained.drop_nulls("head")), ("head_mean", means)):
        parts[part] = {
            view: {
                measure: _defect(
                    select(walks, view=view),
                    select(shuffled, view=view, measure=measure),
                    select(rows, kind="matched", view=view, measure=measure)
                    if part == "heads"
                    else None,
                    measure,
                    seed,
                )
                for measure in measures
            }
            for view, measures in pattern_reversibility.DEFINED.items()
        }
    sizes = sorted({int(n) for n in select(means, view="reduced", measure="n")["value"]})
    noise = tuple(Noise(n=n, **pattern_reversibility.noise(n)) for n in sizes)
    return ReversibilityNumbers(**parts, noise=noise)


def _defect(
    walks: DataFrame, shuffled: DataFrame, matched: DataFrame | None, measure: str, seed: int
) -> Defect:
    """Means over texts for each head, with intervals over heads within layers; counts of walks."""
    pl = optional_module("polars")
    cells = select(walks, measure=measure)
    layers = _layers(cells)
    points = _beside(cells, shuffled).drop_nulls("value")
    heads = points.group_by("layer", "head", maintain_order=True).agg(
        pl.col("value", "median").mean()
    )
    # Where a layer has one value, layers are resampled.
    pool = cells.select("layer", "head").n_unique() == len(layers)
    gaps = heads.with_columns(value=pl.col("value") - pl.col("median"))
    no_structure = len(select(cells, reason=pattern_reversibility.NO_STRUCTURE))
    return Defect(
        value=_interval(_groups(heads, layers), seed, pool),
        control=_interval(_groups(heads, layers, "median"), seed, pool),
        difference=_interval(_groups(gaps, layers), seed, pool),
        below_5=_share(points["value"] < points["low"]),
        above_95=_share(points["value"] > points["high"]),
        walks=len(points),
        undefined=cells["value"].null_count() - no_structure,
        no_structure=no_structure,
        empty_rows=int(select(walks, measure="empty_rows")["value"].sum()),
        draws_lost=int(select(walks, measure="draws_lost")["value"].sum()),
        untrained=None if matched is None else _untrained(heads, matched, layers, seed),
    )


def _untrained(heads: DataFrame, matched: DataFrame, layers: Sequence[int], seed: int) -> Untrained:
    """Differences of each head from the norm-matched models' median at its layer."""
    medians = [_mean(group) for group in _groups(matched, layers)]
    groups = [
        [] if median is None else [v - median for v in values if v is not None]
        for values, median in zip(_groups(heads, layers), medians, strict=True)
    ]
    return Untrained(
        heads=sum(map(len, groups)), median=_mean(medians), difference=_interval(groups, seed)
    )


def _depth(rows: DataFrame) -> DepthNumbers:
    layers = _layers(rows)

    def drawn(models: DataFrame) -> Drawn:
        return Drawn(by_text=_by(models, layers, "text"), by_model=_by(models, layers, "member"))

    def compared(found: DataFrame) -> DepthTable:
        return DepthTable(
            trained=_by(select(found, kind="trained"), layers, "text"),
            other_text=_by(select(found, kind="other_text"), layers, "text"),
            initialised=drawn(select(found, kind="initialised")),
            matched=drawn(select(found, kind="matched")),
        )

    return DepthNumbers(
        transitions=len(layers),
        views={
            view: {
                measure: compared(select(rows, view=view, measure=measure))
                for measure in depth.MEASURES
            }
            for view in depth.VIEWS
        },
    )


def _collapse(rows: DataFrame, causal: bool) -> CollapseNumbers:
    layers = _layers(rows)
    bounded = "from_first" if causal else "osc"

    def values(**where: str) -> ByText:
        return _by(select(rows, **where), layers, "text")

    def passed(view: str, measure: str) -> ByText:
        where = {"view": view, "measure": measure}
        entering = _by(select(rows, kind="entering", **where), layers[:1], "text")
        return entering + values(kind="trained", **where)

    stacks = {}
    for kind in collapse.STACKS:
        bounds = () if kind == "normed" else ("factor", "spread_factor", "bound")
        stacks[kind] = Stack(
            spread=values(kind=kind, measure=bounded),
            **{
                measure: values(kind=kind, measure=measure)
                for measure in ("relative", "floor", *bounds)
            },
        )
    return CollapseNumbers(
        bounded=bounded,
        trained={
            view: Distances(relative=passed(view, "relative"), osc=passed(view, "osc"))
            for view in depth.VIEWS
        },
        models={
            kind: {view: values(kind=kind, view=view, measure="relative") for view in depth.VIEWS}
            for kind in MODELS
        },
        stacks=stacks,
    )


def _layers(rows: DataFrame) -> list[int]:
    return rows["layer"].unique(maintain_order=True).to_list()


def _groups(rows: DataFrame, layers: Sequence[int], column: str = "value") -> Groups:
    """The values of every layer, in the order of the rows."""
    found = {key: part[column].to_list() for (key,), part in rows.group_by("layer")}
    return [found.get(layer, []) for layer in layers]


def _by(rows: DataFrame, layers: Sequence[int], column: str) -> ByText:
    """Every layer's values by text or member, the mean over whatever else there is."""
    pl = optional_module("polars")
    means = rows.group_by("layer", column, maintain_order=True).agg(pl.col("value").mean())
    return tuple(tuple(group) for group in _groups(means, layers))


def _interval(
    groups: Sequence[Sequence[float | None]], seed: int, pool: bool = False
) -> Interval | None:
    """[mean, low, high], resampled within layers, or over all where pooled; None of nothing."""
    kept = [_defined(group) for group in groups]
    if pool:
        kept = [[value for group in kept for value in group]]
    if not any(kept):
        return None
    mean, low, high = interval(kept, seed)
    return mean, low, high


def _share(flags: Iterable[bool]) -> float | None:
    listed = list(flags)
    return sum(listed) / len(listed) if listed else None


def _defined(values: Iterable[float | None]) -> list[float]:
    return [v for v in values if v is not None and math.isfinite(v)]


def _mean(values: Iterable[float | None]) -> float | None:
    kept = _defined(values)
    return sum(kept) / len(kept) if kept else None
