"""The decision rules, fixed in code: from the numbers of a run to plain statements.

Pure functions of the numbers that a run writes. Each gives one of four verdicts:
  SUPPORTED          the whole 95% interval lies on the claimed side of every control named;
  NOT SUPPORTED      it does not;
  ILL-DEFINED HERE   what the claim speaks of does not exist for this model, or bounds nothing;
  NOT TESTABLE HERE  the run is too small to decide.
"""

from __future__ import annotations

from collections.abc import Sequence

from numerics.trained.measures.bootstrap import reach_of_one_more, text_interval
from numerics.trained.records import (
    ByText,
    CollapseNumbers,
    Defect,
    DepthNumbers,
    IdentityNumbers,
    Interval,
    Numbers,
    ReversibilityNumbers,
    Statement,
    TransportNumbers,
)
from numerics.trained.scale import LEAST_SIZES, Effects, slope, thirds

SUPPORTED = "SUPPORTED"
NOT_SUPPORTED = "NOT SUPPORTED"
ILL_DEFINED = "ILL-DEFINED HERE"
NOT_TESTABLE = "NOT TESTABLE HERE"

IDENTITY_THRESHOLD = 1e-13
LEAST_DRAWS = 200  # below, the 5% and 95% points rest on fewer than ten draws beyond them
LEAST_HEADS = 8
LEAST_LAYERS = 6  # for what a layer has one of
LEAST_TEXTS = 3
LEAST_TRANSITIONS = 3
MAJORITY = 0.5  # of the heads below the 5% point of the control
TOWARDS_ZERO = 0.5  # the deep third's distance at most this share of the shallow third's
KINDS = ("gaussian", "haar", "permuted", "shuffled", "norms")  # as a statement lists them
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


def decide(numbers: Numbers) -> list[Statement]:
    """Every statement about one model, from the `numbers` of its summary."""
    found = numbers.transports
    return [
        identity(numbers.identity),
        *(isometry(found, id, measure, claim) for id, (measure, claim) in SPREADS.items()),
        reversibility(numbers.reversibility),
        depth_stability(numbers.depth),
        collapse_bound(numbers.collapse),
        collapse(numbers.collapse),
        scale([]),
    ]


def identity(found: IdentityNumbers) -> Statement:
    """The attention module is its connection walk in every layer measured."""
    worst = max(found.edges, found.matrices)
    outcome = SUPPORTED if worst < IDENTITY_THRESHOLD else NOT_SUPPORTED
    text = (
        f"attention modules equal their connection walks in all {found.layers} layers: largest "
        f"relative error {worst:.1e} (threshold {IDENTITY_THRESHOLD:g}); one graph with one summed "
        f"transport misses {min(found.surrogate):.2f} to {max(found.surrogate):.2f} of them"
    )
    return Statement("EM.identity", outcome, text)


def isometry(found: TransportNumbers, id: str, measure: str, claim: str) -> Statement:
    """A CV against its controls: the interval of the ratio below 1 for each, most below 5%."""
    if measure not in found.spreads:
        text = f"{claim} than random factors: no norm precedes attention in its layer"
        return Statement(id, ILL_DEFINED, text)
    entry = found.spreads[measure]
    gaussian = entry.controls["gaussian"]
    if entry.value is None or gaussian.ratio is None:
        return Statement(id, ILL_DEFINED, f"{claim} than random: no transport has a spread")
    count = len(entry.by_layer) * (1 if measure == "summed" else found.heads)
    count -= entry.left_out
    kinds = [k for k in KINDS if k in entry.controls]
    ratios = {k: r for k in kinds if (r := entry.controls[k].ratio) is not None}
    flat = [k for k in kinds if k not in ratios]
    theory = f" (sqrt(d_h/2d) = {found.theory:.3f})" if measure.startswith("cv") else ""
    shown = "; ".join(f"{kind} {r[0]:.3f} [{r[1]:.3f}, {r[2]:.3f}]" for kind, r in ratios.items())
    text = (
        f"{claim} than random factors: CV {entry.value[0]:.3f} against "
        f"{gaussian.control:.3f} of gaussian factors{theory}; ratio to each control (95%): "
        f"{shown}; {gaussian.below_5:.0%} below the 5% point and "
        f"{gaussian.above_95:.0%} above the 95% point of the gaussian control"
    )
    if flat:
        text += f"; 0/0 against {', '.join(flat)}: flat spectra leave nothing to move"
    if entry.left_out:
        text += f"; {entry.left_out} of no spread left out"
    least = LEAST_LAYERS if measure == "summed" else LEAST_HEADS
    if count < least:
        return Statement(id, NOT_TESTABLE, f"{text}; fewer than {least} values")
    beaten = all(r[2] < 1 for r in ratios.values()) and _most(gaussian.below_5)
    return Statement(id, SUPPORTED if beaten else NOT_SUPPORTED, text)


def _most(share: float | None) -> bool:
    return share is not None and share > MAJORITY


def reversibility(found: ReversibilityNumbers | str) -> Statement:
    """Centred defect (no sinks, no diagonal) and curl below shuffled rows and untrained models."""
    id, claim = "EM.reversibility", "attention is nearer to a reversible walk than without training"
    if isinstance(found, str):
        return Statement(id, ILL_DEFINED, f"{claim}: {found}")
    centred, curl = found.heads["reduced"]["centred"], found.heads["whole"]["curl"]
    raw = found.heads["whole"]["raw"].value
    entries = {"centred defect, sinks and diagonal removed": centred, "curl of the logits": curl}
    shown = [line for name, entry in entries.items() if (line := _beside(name, entry))]
    if len(shown) < len(entries) or raw is None or centred.untrained is None:
        return Statement(id, ILL_DEFINED, f"{claim}: no walk has a stationary law and structure")
    text = (
        f"{claim}: {'; '.join(shown)}; {centred.undefined} walks undefined, "
        f"{centred.empty_rows} empty rows dropped; the raw defect with sinks alone would have said "
        f"{raw[0]:.3f}"
    )
    if centred.untrained.heads < LEAST_HEADS:
        return Statement(id, NOT_TESTABLE, f"{text}; fewer than {LEAST_HEADS} heads")
    beaten = all(_most(entry.below_5) for entry in entries.values()) and all(
        gap is not None and gap[2] < 0 for entry in entries.values() for gap in _gaps(entry)
    )
    return Statement(id, SUPPORTED if beaten else NOT_SUPPORTED, text)


def _gaps(entry: Defect) -> tuple[Interval | None, Interval | None]:
    """Differences from shuffled rows and from untrained models."""
    return entry.difference, None if entry.untrained is None else entry.untrained.difference


def _beside(name: str, entry: Defect) -> str | None:
    value, control, (d, m), models = entry.value, entry.control, _gaps(entry), entry.untrained
    if value is None or control is None or d is None or m is None or models is None:
        return None
    return (
        f"{name} {value[0]:.3f}, shuffled rows {control[0]:.3f} (difference "
        f"{d[0]:+.3f} [{d[1]:+.3f}, {d[2]:+.3f}]; {entry.below_5:.0%} below the 5% point, "
        f"{entry.above_95:.0%} above the 95% point), norm-matched models {models.median:.3f} "
        f"(difference {m[0]:+.3f} [{m[1]:+.3f}, {m[2]:+.3f}])"
    )


def by_thirds(transitions: ByText) -> list[list[float]] | None:
    """Mean over the transitions of each third, for every text; None where a value is missing."""
    if any(value is None for row in transitions for value in row):
        return None
    found = []
    for part in thirds(len(transitions)):
        rows = [transitions[i] for i in part]
        found.append([sum(v) / len(v) for v in zip(*rows, strict=True)])  # pyright: ignore
    return found


def depth_stability(found: DepthNumbers) -> Statement:
    """Distances of consecutive walks, sinks removed, fall towards 0 and beat every control.

    Below where one more random model may fall, too: texts alone do not tell a model from one.
    """
    id = "EM.depth_stability"
    claim = "walks of consecutive layers converge with depth"
    count = found.transitions
    if count < LEAST_TRANSITIONS:
        return Statement(id, NOT_TESTABLE, f"{claim}: {count} transitions have no thirds")
    table = found.views["no_sinks"]["distance"]
    drawn = {"initialised": table.initialised, "matched": table.matched}
    texts = len(table.trained[0])
    if texts < LEAST_TEXTS:
        return Statement(id, NOT_TESTABLE, f"{claim}: {texts} texts give no interval")
    real = by_thirds(table.trained)
    against = {k: by_thirds(models.by_text) for k, models in drawn.items()}
    against["other_text"] = by_thirds(table.other_text)
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
    reaches = {k: _reach(models.by_model) for k, models in drawn.items()}
    if None not in reaches.values():
        text += "; one more random model may lie as far from its control as " + ", ".join(
            f"{k} {reach:.3f}" for k, reach in reaches.items()
        )
    told = all(reach is not None and gaps[k][0] + reach < 0 for k, reach in reaches.items())
    falls = change[2] < 0 and deep[0] <= TOWARDS_ZERO * shallow[0]
    beaten = told and all(g[2] < 0 for g in gaps.values())
    return Statement(id, SUPPORTED if falls and beaten else NOT_SUPPORTED, text)


def _reach(models: ByText | None) -> float | None:
    """How far one more random model's deep third lies from their mean; None where unmeasured."""
    parts = by_thirds(models) if models else None
    return None if parts is None else reach_of_one_more(parts[2])


def collapse_bound(found: CollapseNumbers) -> Statement:
    """RA11 beside the bare and the frozen stack: no osc above its bound, or the bound is void."""
    id, causal = "EM.collapse_bound", found.bounded == "from_first"
    name = "max_i |x_i - x_1|" if causal else "osc"
    factors, spreads, broken, sunk, lost = [], [], 0, 0, 0
    for stack in (found.stacks["bare"], found.stacks["frozen"]):
        columns = (stack.spread, stack.bound, stack.floor, stack.factor, stack.spread_factor)
        if None in columns:
            raise ValueError("stacks must have bounds where they are bare or frozen")
        for rows in zip(*columns, strict=True):  # pyright: ignore
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
    weaker = "void" if causal else f"{min(spreads):.3g} to {max(spreads):.3g}"
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


def collapse(found: CollapseNumbers) -> Statement:
    """Attention without skip and MLP, norm kept, collapses; the real model does not."""
    id = "EM.collapse"
    claim = "attention alone (norm kept) brings tokens together, the whole model less so"
    passed = found.trained["no_sinks"].relative
    rows = (passed[0], passed[-1], found.models["initialised"]["no_sinks"][-1],
            found.stacks["normed"].relative[-1])  # fmt: skip
    entering, real, untrained, alone = ([v for v in row if v is not None] for row in rows)
    if len(real) < LEAST_TEXTS or any(None in row for row in rows):
        return Statement(id, NOT_TESTABLE, f"{claim}: too few texts, or a stack that overflowed")
    gap = text_interval([p - r for p, r in zip(alone, real, strict=True)], SEED)
    means = [sum(values) / len(values) for values in (entering, real, untrained, alone)]
    text = (
        f"{claim}: |X - 1 mean|/|X|, sinks removed, {means[0]:.3f} entering and {means[1]:.3f} "
        f"leaving (initialised model {means[2]:.3f}); attention alone leaves {means[3]:.3g} over "
        f"all tokens, difference {gap[0]:+.3f} [{gap[1]:+.3f}, {gap[2]:+.3f}]"
    )
    return Statement(id, SUPPORTED if gap[2] < 0 else NOT_SUPPORTED, text)


def scale(family: Sequence[Effects]) -> Statement:
    """Within one family both effects, trained - control, grow: their slopes lie below 0."""
    id, claim = "EM.scale", "isometry and depth stability strengthen with scale"
    sizes = [model.log_size for model in family]
    if len(set(sizes)) < LEAST_SIZES:
        text = f"{claim}: {LEAST_SIZES} sizes of one family needed, {max(1, len(set(sizes)))} here"
        return Statement(id, NOT_TESTABLE, text)
    slopes = {
        "isometry": slope(sizes, [model.isometry for model in family]),
        "depth": slope(sizes, [model.depth for model in family]),
    }
    shown = "; ".join(f"{k} {v[0]:+.3f} [{v[1]:+.3f}, {v[2]:+.3f}]" for k, v in slopes.items())
    text = f"{claim}: slopes of (trained - control) over log size, {len(sizes)} models: {shown}"
    falls = all(v[2] < 0 for v in slopes.values())
    return Statement(id, SUPPORTED if falls else NOT_SUPPORTED, text)
