"""The decision rules, fixed in code: from the numbers of a run to plain statements.

Pure functions of the JSON that a run writes. Each gives one of four verdicts:
  SUPPORTED          the whole 95% interval lies on the claimed side of every control named;
  NOT SUPPORTED      it does not;
  ILL-DEFINED HERE   what the claim speaks of does not exist for this model, or bounds nothing;
  NOT TESTABLE HERE  the run is too small to decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from numerics.trained.measures.bootstrap import reach_of_one_more, text_interval
from numerics.trained.scale import LEAST_SIZES, slope, thirds

SUPPORTED = "SUPPORTED"
NOT_SUPPORTED = "NOT SUPPORTED"
ILL_DEFINED = "ILL-DEFINED HERE"
NOT_TESTABLE = "NOT TESTABLE HERE"
Outcome = Literal["SUPPORTED", "NOT SUPPORTED", "ILL-DEFINED HERE", "NOT TESTABLE HERE"]

IDENTITY_THRESHOLD = 1e-13
LEAST_DRAWS = 200  # below, the 5% and 95% points rest on fewer than ten draws beyond them
LEAST_HEADS = 8
LEAST_LAYERS = 6  # for what a layer has one of
LEAST_TEXTS = 3
LEAST_TRANSITIONS = 3
MAJORITY = 0.5  # of the heads below the 5% point of the control
TOWARDS_ZERO = 0.5  # the deep third's distance at most this share of the shallow third's
DEPTH_CONTROLS = ("initialised", "matched", "other_text")
DRAWN = ("initialised", "matched")  # of the depth controls: models of random weights
SPREADS = {
    "EM.isometry": ("cv", "transports are nearer to scaled isometries"),
    "EM.isometry_folded": (
        "cv_folded",
        "transports with the gain of the norm folded in are nearer to scaled isometries",
    ),
    "EM.functional": ("functional", "transports scale token differences more evenly"),
    "EM.summed": ("summed", "the sum of a layer's transports is nearer to a scaled isometry"),
    "EM.mixed": ("mixed", "edge-mixed transports are nearer to scaled isometries"),
}
SEED = 0  # of the intervals over texts


@dataclass(frozen=True)
class Statement:
    """One measurement's id, its verdict, and the sentence with its numbers."""

    id: str
    outcome: Outcome
    text: str

    @property
    def line(self) -> str:
        """As it is printed."""
        return f"{self.outcome}: {self.text}"


def decide(numbers: Mapping[str, Any]) -> list[Statement]:
    """Every statement about one model, from the `numbers` of its summary."""
    found = numbers["transports"]
    return [
        identity(numbers["identity"]),
        *(isometry(found, id, measure, claim) for id, (measure, claim) in SPREADS.items()),
        reversibility(numbers["reversibility"]),
        depth_stability(numbers["depth"]),
        collapse_bound(numbers["collapse"]),
        collapse(numbers["collapse"]),
        scale([]),
    ]


def identity(found: Mapping[str, Any]) -> Statement:
    """The attention module is its connection walk in every layer measured."""
    worst = max(found["edges"], found["matrices"])
    outcome = SUPPORTED if worst < IDENTITY_THRESHOLD else NOT_SUPPORTED
    text = (
        f"attention modules equal their connection walks in all {found['layers']} layers: largest "
        f"relative error {worst:.1e} (threshold {IDENTITY_THRESHOLD:g}); one graph with one summed "
        f"transport misses {min(found['surrogate']):.2f} to {max(found['surrogate']):.2f} of them"
    )
    return Statement("EM.identity", outcome, text)


def isometry(found: Mapping[str, Any], id: str, measure: str, claim: str) -> Statement:
    """A CV against its controls: the interval of the ratio below 1 for each, most below 5%."""
    if measure not in found:
        text = f"{claim} than random factors: no norm precedes attention in its layer"
        return Statement(id, ILL_DEFINED, text)
    entry = found[measure]
    kinds = [k for k in ("gaussian", "haar", "permuted", "shuffled", "norms") if k in entry]
    if entry["gaussian"]["ratio"] is None:
        return Statement(id, ILL_DEFINED, f"{claim} than random: no transport has a spread")
    count = len(entry["by_layer"]) * (1 if measure == "summed" else found["heads"])
    count -= entry["left_out"]
    ratios = {k: entry[k]["ratio"] for k in kinds if entry[k]["ratio"] is not None}
    flat = [k for k in kinds if k not in ratios]
    gaussian = entry["gaussian"]
    theory = f" (sqrt(d_h/2d) = {found['theory']:.3f})" if measure.startswith("cv") else ""
    shown = "; ".join(f"{kind} {r[0]:.3f} [{r[1]:.3f}, {r[2]:.3f}]" for kind, r in ratios.items())
    text = (
        f"{claim} than random factors: CV {entry['value'][0]:.3f} against "
        f"{gaussian['control']:.3f} of gaussian factors{theory}; ratio to each control (95%): "
        f"{shown}; {gaussian['below_5']:.0%} below the 5% point and "
        f"{gaussian['above_95']:.0%} above the 95% point of the gaussian control"
    )
    if flat:
        text += f"; 0/0 against {', '.join(flat)}: flat spectra leave nothing to move"
    if entry["left_out"]:
        text += f"; {entry['left_out']} of no spread left out"
    least = LEAST_LAYERS if measure == "summed" else LEAST_HEADS
    if count < least:
        return Statement(id, NOT_TESTABLE, f"{text}; fewer than {least} values")
    beaten = all(r[2] < 1 for r in ratios.values()) and gaussian["below_5"] > MAJORITY
    return Statement(id, SUPPORTED if beaten else NOT_SUPPORTED, text)


def reversibility(found: Mapping[str, Any] | str) -> Statement:
    """Centred defect (no sinks, no diagonal) and curl below shuffled rows and untrained models."""
    id, claim = "EM.reversibility", "attention is nearer to a reversible walk than without training"
    if isinstance(found, str):
        return Statement(id, ILL_DEFINED, f"{claim}: {found}")
    centred, curl = found["heads.reduced.centred"], found["heads.whole.curl"]
    entries = {"centred defect, sinks and diagonal removed": centred, "curl of the logits": curl}
    gaps = [e[k] for e in entries.values() for k in ("difference", "difference_matched")]
    if None in gaps:
        return Statement(id, ILL_DEFINED, f"{claim}: no walk has a stationary law and structure")
    shown = "; ".join(_beside(name, entry) for name, entry in entries.items())
    text = (
        f"{claim}: {shown}; {centred['undefined']} walks undefined, {centred['empty_rows']} empty "
        f"rows dropped; the raw defect with sinks alone would have said "
        f"{found['heads.whole.raw']['value'][0]:.3f}"
    )
    if centred["heads"] < LEAST_HEADS:
        return Statement(id, NOT_TESTABLE, f"{text}; fewer than {LEAST_HEADS} heads")
    beaten = all(gap[2] < 0 for gap in gaps) and all(
        entry["below_5"] > MAJORITY for entry in entries.values()
    )
    return Statement(id, SUPPORTED if beaten else NOT_SUPPORTED, text)


def _beside(name: str, entry: Mapping[str, Any]) -> str:
    d, m = entry["difference"], entry["difference_matched"]
    return (
        f"{name} {entry['value'][0]:.3f}, shuffled rows {entry['control'][0]:.3f} (difference "
        f"{d[0]:+.3f} [{d[1]:+.3f}, {d[2]:+.3f}]; {entry['below_5']:.0%} below the 5% point, "
        f"{entry['above_95']:.0%} above the 95% point), norm-matched models {entry['matched']:.3f} "
        f"(difference {m[0]:+.3f} [{m[1]:+.3f}, {m[2]:+.3f}])"
    )


def by_thirds(transitions: Sequence[Sequence[float | None]]) -> list[list[float]] | None:
    """Mean over the transitions of each third, for every text; None where a value is missing."""
    if any(value is None for row in transitions for value in row):
        return None
    found = []
    for part in thirds(len(transitions)):
        rows = [transitions[i] for i in part]
        found.append([sum(v) / len(v) for v in zip(*rows, strict=True)])  # pyright: ignore
    return found


def depth_stability(found: Mapping[str, Any]) -> Statement:
    """Distances of consecutive walks, sinks removed, fall towards 0 and beat every control.

    Below where one more random model may fall, too: texts alone do not tell a model from one.
    """
    id = "EM.depth_stability"
    claim = "walks of consecutive layers converge with depth"
    count = found["transitions"]
    if count < LEAST_TRANSITIONS:
        return Statement(id, NOT_TESTABLE, f"{claim}: {count} transitions have no thirds")
    table = found["no_sinks"]["distance"]
    texts = len(table["real"][0])
    if texts < LEAST_TEXTS:
        return Statement(id, NOT_TESTABLE, f"{claim}: {texts} texts give no interval")
    real = by_thirds(table["real"])
    against = {k: by_thirds(table[k]) for k in DEPTH_CONTROLS}
    if real is None or None in against.values():
        return Statement(id, ILL_DEFINED, f"{claim}: a distance is undefined")
    shallow, middle, deep = (text_interval(part, SEED) for part in real)
    change = text_interval([d - s for d, s in zip(real[2], real[0], strict=True)], SEED)
    gaps = {
        k: text_interval([d - c for d, c in zip(real[2], part[2], strict=True)], SEED)
        for k, part in against.items() if part is not None
    }  # fmt: skip
    shown = "; ".join(f"{k} {g[0]:+.3f} [{g[1]:+.3f}, {g[2]:+.3f}]" for k, g in gaps.items())
    text = (
        f"{claim}: relative distance, sinks removed, in thirds {shallow[0]:.3f}, {middle[0]:.3f}, "
        f"{deep[0]:.3f}; deep - shallow {change[0]:+.3f} [{change[1]:+.3f}, {change[2]:+.3f}] over "
        f"{texts} texts; deep third less each control's: {shown}"
    )
    reaches = {k: _reach(table.get(f"{k}_models")) for k in DRAWN}
    if None not in reaches.values():
        text += "; one more random model may lie as far from its control as " + ", ".join(
            f"{k} {reach:.3f}" for k, reach in reaches.items()
        )
    told = all(reach is not None and gaps[k][0] + reach < 0 for k, reach in reaches.items())
    falls = change[2] < 0 and deep[0] <= TOWARDS_ZERO * shallow[0]
    beaten = told and all(g[2] < 0 for g in gaps.values())
    return Statement(id, SUPPORTED if falls and beaten else NOT_SUPPORTED, text)


def _reach(models: Sequence[Sequence[float | None]] | None) -> float | None:
    """How far one more random model's deep third lies from their mean; None where unmeasured."""
    parts = by_thirds(models) if models else None
    return None if parts is None else reach_of_one_more(parts[2])


def collapse_bound(found: Mapping[str, Any]) -> Statement:
    """RA11 beside the bare and the frozen stack: no osc above its bound, or the bound is void."""
    id, key = "EM.collapse_bound", found["bounded"]
    name = "max_i |x_i - x_1|" if key == "from_first" else "osc"
    factors, spreads, broken, sunk, lost = [], [], 0, 0, 0
    columns = (key, "bound", "floor", "factor", "spread_factor")
    for stack in ("bare", "frozen"):
        for rows in zip(*(found[f"{stack}.{column}"] for column in columns), strict=True):
            for value, bound, floor, factor, spread in zip(*rows, strict=True):
                if value is None:
                    lost += 1
                    continue
                # Tokens that are one up to rounding have a factor of rounding.
                sunk += value <= floor
                factors += [factor] if value > floor else []
                spreads += [spread] if value > floor else []
                broken += value > bound * (1 + 1e-9) + floor
    if not factors:
        return Statement(id, NOT_TESTABLE, "RA11's bound: the stacks left float64's range")
    weaker = "void" if key == "from_first" else f"{min(spreads):.3g} to {max(spreads):.3g}"
    text = (
        f"RA11's bound holds on {name} of the bare and frozen stacks: factors "
        f"{min(factors):.3g} to {max(factors):.3g} a layer ({weaker} by spreads of scores)"
        + (f", {sunk} where tokens were one up to rounding left out" if sunk else "")
        + (f", {lost} beyond float64's range left out" if lost else "")
    )
    if broken:
        return Statement(id, NOT_SUPPORTED, f"{text}; broken {broken} times")
    vacuous = sum(f > 1 for f in factors)
    if vacuous == len(factors):
        return Statement(id, ILL_DEFINED, f"{text}, all above 1: VACUOUS, nothing is bounded")
    return Statement(id, SUPPORTED, f"{text}; {vacuous} of {len(factors)} above 1 (VACUOUS)")


def collapse(found: Mapping[str, Any]) -> Statement:
    """Attention without skip and MLP, norm kept, collapses; the real model does not."""
    id = "EM.collapse"
    claim = "attention alone (norm kept) brings tokens together, the whole model less so"
    real, pure = found["real.no_sinks.relative"][-1], found["normed.relative"][-1]
    if len(real) < LEAST_TEXTS or None in pure:
        return Statement(id, NOT_TESTABLE, f"{claim}: too few texts, or a stack that overflowed")
    gap = text_interval([p - r for p, r in zip(pure, real, strict=True)], SEED)
    first, last, alone = (sum(v) / len(v) for v in (found["real.no_sinks.relative"][0], real, pure))
    untrained = found["initialised.no_sinks.relative"][-1]
    text = (
        f"{claim}: |X - 1 mean|/|X|, sinks removed, {first:.3f} entering and {last:.3f} leaving "
        f"(initialised model {sum(untrained) / len(untrained):.3f}); attention alone leaves "
        f"{alone:.3g} over all tokens, difference {gap[0]:+.3f} [{gap[1]:+.3f}, {gap[2]:+.3f}]"
    )
    return Statement(id, SUPPORTED if gap[2] < 0 else NOT_SUPPORTED, text)


def scale(family: Sequence[Mapping[str, float]]) -> Statement:
    """Within one family both effects, trained - control, grow: their slopes lie below 0."""
    id, claim = "EM.scale", "isometry and depth stability strengthen with scale"
    sizes = [model["log_size"] for model in family]
    if len(set(sizes)) < LEAST_SIZES:
        text = f"{claim}: {LEAST_SIZES} sizes of one family needed, {max(1, len(set(sizes)))} here"
        return Statement(id, NOT_TESTABLE, text)
    slopes = {k: slope(sizes, [model[k] for model in family]) for k in ("isometry", "depth")}
    shown = "; ".join(f"{k} {v[0]:+.3f} [{v[1]:+.3f}, {v[2]:+.3f}]" for k, v in slopes.items())
    text = f"{claim}: slopes of (trained - control) over log size, {len(sizes)} models: {shown}"
    falls = all(v[2] < 0 for v in slopes.values())
    return Statement(id, SUPPORTED if falls else NOT_SUPPORTED, text)
