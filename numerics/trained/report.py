"""The page of plain statements of a run, in Markdown."""

from __future__ import annotations

from numerics.trained.records import Summary

CONVENTIONS = (
    "Row vectors, float64. Intervals are 95% bootstrap intervals over heads within layers, or over "
    "texts; controls are medians with 5% and 95% points of {draws} seeded draws.",
    "Sinks are token 0 ([CLS]) and, in encoders, the closing [SEP]. Where they and the diagonal "
    "are removed, rows are renormalised, the stationary law recomputed and empty rows dropped.",
    "Collapse: the norm before attention is kept with its gain in the normed stack; a post-norm "
    "model gets a LayerNorm without gain after attention. Another convention gives other numbers.",
    "EM.identity, EM.collapse_bound and EM.collapse say what the architecture does: models of "
    "random weights give them too, and nothing learned is claimed by them.",
    "Query heads that share a value head share its factor: sums of transports have at most "
    "{joined_values} nonzero singular values here.",
    "On all of R^d a transport of rank {inner} is at least {floor:.3f} (relative Frobenius "
    "distance) from every scaled isometry; spreads are over its nonzero singular values.",
)


def page(summary: Summary) -> str:
    """The statements with what they rest on."""
    model, transports = summary.model, summary.numbers.transports
    kind = "decoder" if model.causal else "encoder"
    lengths = ", ".join(str(text.n) for text in summary.texts)
    lines = [
        f"# {model.name}",
        "",
        f"{model.architecture} {kind}, {model.layers_measured} of {model.layers} layers, "
        f"d = {model.d}, H = {model.heads} ({transports.value_heads} value heads), stored "
        f"as {', '.join(model.stored_types)}{' (dequantised)' if model.quantised else ''}; "
        f"{len(summary.texts)} texts of {lengths} tokens; seed {summary.arguments.seed}; "
        f"commit {summary.commit or 'unknown'}.",
        "",
        *(f"- `{name}`: sha256 {digest}" for name, digest in summary.sha256.items()),
        "",
        *(f"- **{s.outcome}** ({s.id}): {s.text}." for s in summary.statements),
        "",
    ]
    given = {
        "draws": summary.arguments.draws,
        "floor": transports.floor,
        "inner": transports.inner,
        "joined_values": transports.joined_values,
    }
    lines += [f"{convention.format(**given)}\n" for convention in CONVENTIONS]
    return "\n".join(lines)
