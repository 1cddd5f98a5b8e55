"""From the records of all layers to the numbers that the decision rules read.

Every entry is JSON: [mean, low, high] with a 95% bootstrap interval over heads within layers, or,
for depth and collapse, lists over texts. A measure that is undefined keeps its reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from numerics.trained.measures import controls, depth, pattern_reversibility
from numerics.trained.measures.bootstrap import interval
from numerics.trained.measures.control_models import KINDS as MODELS

HEAD_MEASURES = ("cv", "condition", "participation", "functional")
JOINED = ("summed", "mixed")
FLAT = 1e-6  # a control's median below it is the rounding of 0: flat spectra have nothing to move

Records = Sequence[dict[str, Any]]


def numbers(records: Records, causal: bool, seed: int) -> dict[str, Any]:
    """The numbers of a run, from its records in order of layers."""
    return rounded(
        {
            "identity": _identity(records),
            "transports": _transports(records, seed),
            "reversibility": _reversibility(records, causal, seed),
            "depth": _depth(records),
            "collapse": _collapse(records, causal),
        }
    )


def rounded(value: Any, digits: int = 6) -> Any:
    """The value with every float at so many significant digits."""
    if isinstance(value, dict):
        return {k: rounded(v, digits) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(v, digits) for v in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def _identity(records: Records) -> dict[str, Any]:
    found = [r["identity"] for r in records]
    return {
        "layers": len(found),
        "edges": max(f["edges"] for f in found),
        "matrices": max(f["matrices"] for f in found),
        "surrogate": [f["surrogate"] for f in found],
    }


def _transports(records: Records, seed: int) -> dict[str, Any]:
    layers = [r["transports"] for r in records]
    first = layers[0]
    found: dict[str, Any] = {
        key: first[key] for key in ("heads", "value_heads", "inner", "d", "joined_values")
    }
    found["theory"] = (first["inner"] / (2 * first["d"])) ** 0.5
    found["floor_on_all_of_R^d"] = max(0.0, 1 - first["inner"] / first["d"]) ** 0.5
    gaussian = [x for layer in layers for x in layer["controls"]["gaussian"]["cv"][0]]
    found["gaussian_over_theory"] = sum(gaussian) / len(gaussian) / found["theory"]
    for name in HEAD_MEASURES:
        found[name] = _against(layers, name, lambda layer, name=name: layer["own"][name], seed)
    if first["folded"] is not None:
        found["cv_folded"] = _against(
            layers, "cv", lambda layer: layer["folded"]["cv"], seed, ("gaussian",)
        )
    for name in JOINED:
        found[name] = _against(layers, name, lambda layer, name=name: layer["own"][name], seed)
    return found


def _against(
    layers: Records,
    name: str,
    own: Callable[[Any], Any],
    seed: int,
    kinds: Sequence[str] = controls.KINDS,
) -> dict[str, Any]:
    """Own values against every control: values, ratios to the medians, shares outside."""
    values = [_listed(own(layer)) for layer in layers]
    pool = _pooled if name == "summed" else list
    found: dict[str, Any] = {
        "value": _interval(pool(values), seed),
        "by_layer": [_mean(_defined(row)) for row in values],
        "left_out": sum(v is None for row in values for v in row),
    }
    for kind in kinds:
        points = [_points(layer["controls"][kind][name], len(v)) for layer, v in
                  zip(layers, values, strict=True)]  # fmt: skip
        ratios, below, above = [], 0, 0
        for row, control in zip(values, points, strict=True):
            pairs = [(v, c) for v, c in zip(row, control, strict=True)
                     if v is not None and None not in c and c[0] > FLAT]  # fmt: skip
            ratios.append([v / c[0] for v, c in pairs])
            below += sum(v < c[1] for v, c in pairs)
            above += sum(v > c[2] for v, c in pairs)
        count = sum(len(row) for row in ratios)
        found[kind] = {
            "control": _mean([c[0] for row in points for c in row if None not in c]),
            "control_by_layer": [
                [_mean([c[k] for c in row if None not in c]) for k in range(3)] for row in points
            ],
            "ratio": _interval(pool(ratios), seed),
            "below_5": below / count if count else None,
            "above_95": above / count if count else None,
        }
    return found


def _points(quantiles: Any, count: int) -> list[list[Any]]:
    """[median, 5%, 95%] for each of `count` values, from (3, count) or from (3,) for all."""
    if not isinstance(quantiles[0], list):
        return [quantiles] * count
    return [list(point) for point in zip(*quantiles, strict=True)]


def _reversibility(records: Records, causal: bool, seed: int) -> Any:
    if causal:
        return pattern_reversibility.CAUSAL
    found: dict[str, Any] = {}
    for part in ("heads", "head_mean"):
        for view in ("whole", "reduced"):
            cells = [_cells(r["reversibility"], part, view) for r in records]
            for measure in pattern_reversibility.MEASURES:
                if view == "whole" or measure != "curl":  # a diagonal taken out is no logit
                    entry = _beside_shuffles(cells, measure, seed)
                    if part == "heads":
                        models = [_models(r["reversibility"], view, measure) for r in records]
                        entry |= _beside_models(cells, models, measure, seed)
                    found[f"{part}.{view}.{measure}"] = entry
    sizes = {
        text["head_mean"]["reduced"]["n"]
        for r in records
        for text in r["reversibility"]
        if isinstance(text["head_mean"]["reduced"], dict)
    }
    found["noise"] = {str(n): pattern_reversibility.noise(n) for n in sorted(sizes)}
    return found


def _cells(texts: list[dict[str, Any]], part: str, view: str) -> list[list[Any]]:
    """The results of one layer by head, each a list over texts; the head mean counts as one."""
    by_text = [text[part] if part == "heads" else [text[part]] for text in texts]
    return [[cell[view] for cell in head] for head in zip(*by_text, strict=True)]


def _beside_shuffles(layers: list[list[list[Any]]], measure: str, seed: int) -> dict[str, Any]:
    """Means over texts for each head, with intervals over heads within layers; counts of walks."""
    cells = [cell for heads in layers for head in heads for cell in head]
    whole = [cell for cell in cells if isinstance(cell, dict)]
    entries = [cell.get(measure) for cell in whole]
    points = [e for e in entries if isinstance(e, list)]
    by_head = [[_entry_mean(head, measure) for head in heads] for heads in layers]
    pool = _pooled if all(len(heads) == 1 for heads in layers) else list

    def over_heads(value: Callable[[list[float]], float]) -> list[float] | None:
        return _interval(
            pool([[None if e is None else value(e) for e in h] for h in by_head]), seed
        )

    return {
        "value": over_heads(lambda e: e[0]),
        "control": over_heads(lambda e: e[1]),
        "difference": over_heads(lambda e: e[0] - e[1]),
        "below_5": _share(e[0] < e[2] for e in points),
        "above_95": _share(e[0] > e[3] for e in points),
        "walks": len(points),
        "undefined": len(cells) - len(whole) + sum(e is None for e in entries),
        "no_structure": sum(isinstance(e, str) for e in entries),
        "empty_rows": sum(cell["empty_rows"] for cell in whole),
        "draws_lost": sum(cell["draws_lost"] for cell in whole),
    }


def _models(texts: list[dict[str, Any]], view: str, measure: str) -> float | None:
    """The median over untrained models' heads, averaged over texts."""
    return _mean([text["matched"][view].get(measure, [None])[0] for text in texts])


def _beside_models(
    layers: list[list[list[Any]]], models: list[float | None], measure: str, seed: int
) -> dict[str, Any]:
    """Differences of each head from the norm-matched models' median at its layer."""
    groups = []
    for heads, median in zip(layers, models, strict=True):
        means = [_entry_mean(head, measure) for head in heads]
        groups.append([] if median is None else [e[0] - median for e in means if e is not None])
    return {
        "heads": sum(map(len, groups)),
        "matched": _mean(models),
        "difference_matched": _interval(groups, seed),
    }


def _entry_mean(head: list[Any], measure: str) -> list[float] | None:
    """[value, control median] of one head, averaged over the texts where both are defined."""
    entries = [cell.get(measure) for cell in head if isinstance(cell, dict)]
    points = [e for e in entries if isinstance(e, list)]
    return [sum(e[k] for e in points) / len(points) for k in (0, 1)] if points else None


def _share(flags: Iterable[bool]) -> float | None:
    listed = list(flags)
    return sum(listed) / len(listed) if listed else None


def _pooled(groups: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """One group of all: where a layer has one value, layers are resampled."""
    return [[value for group in groups for value in group]]


def _depth(records: Records) -> Any:
    """{view: {measure: {model: [[value of each text] of each transition]}}}; models averaged.

    Beside them, under initialised_models and matched_models, each model averaged over texts.
    """
    layers = [r["depth"] for r in records if r["depth"] is not None]
    found: dict[str, Any] = {"transitions": len(layers)}
    for view in depth.VIEWS:
        found[view] = {}
        for measure in depth.MEASURES:
            table: dict[str, Any] = {
                name: [[text[view][measure] for text in layer[name]] for layer in layers]
                for name in ("real", "other_text")
            }
            for kind in MODELS:
                table[kind] = [
                    [_mean(_defined(m[t][view][measure] for m in layer[kind]))
                     for t in range(len(layer["real"]))]
                    for layer in layers
                ]  # fmt: skip
                table[f"{kind}_models"] = [
                    [_mean(_defined(text[view][measure] for text in m)) for m in layer[kind]]
                    for layer in layers
                ]
            found[view][measure] = table
    return found


def _collapse(records: Records, causal: bool) -> dict[str, Any]:
    """Lists over layers of lists over texts."""
    layers = [r["collapse"] for r in records]
    key = "from_first" if causal else "osc"
    found: dict[str, Any] = {"bounded": key}
    for view in ("whole", "no_sinks"):
        for measure in ("relative", "osc"):
            found[f"real.{view}.{measure}"] = [
                [t[view][measure] for t in layers[0]["entering"]],
                *([t[view][measure] for t in layer["real"]] for layer in layers),
            ]
        for kind in MODELS:
            found[f"{kind}.{view}.relative"] = [
                [_mean([m[t][view]["relative"] for m in layer[kind]])
                 for t in range(len(layer["real"]))]
                for layer in layers
            ]  # fmt: skip
    for stack in ("normed", "bare", "frozen"):
        for measure in ("relative", key, "floor", "factor", "spread_factor", "bound"):
            if stack != "normed" or measure not in ("factor", "spread_factor", "bound"):
                found[f"{stack}.{measure}"] = [
                    [None if t[stack] is None else t[stack][measure] for t in layer["stacks"]]
                    for layer in layers
                ]
    return found


def _interval(groups: Sequence[Sequence[float | None]], seed: int) -> list[float] | None:
    kept = [_defined(group) for group in groups]
    return interval(kept, seed) if any(kept) else None


def _listed(value: Any) -> list[float | None]:
    return value if isinstance(value, list) else [value]


def _defined(values: Iterable[float | None]) -> list[float]:
    return [v for v in values if v is not None and math.isfinite(v)]


def _mean(values: Iterable[float | None]) -> float | None:
    kept = _defined(values)
    return sum(kept) / len(kept) if kept else None
