"""Peak memory of a decoder streamed from disk through gate and identity, layer by layer.

Run `python -m benchmarks.streaming`. It writes a sharded checkpoint of random bfloat16 weights
with the shapes of Llama 3 8B, cut to 2 layers (1.9 GB, removed afterwards), and measures in a
process of its own the largest resident memory after each layer. The projection for 32 layers
adds what each further layer would, at the growth seen between the first and the last.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch

from numerics.runs.provenance import machine
from numerics.stress.measurement import largest_resident

SHAPE = {
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}
PROJECTED = 32
PACKAGES = ("torch", "transformers", "safetensors")


def layer_shapes(shape: dict[str, int]) -> dict[str, tuple[int, ...]]:
    """The tensors of one layer by their names in a Llama checkpoint."""
    d, inner, width = shape["hidden_size"], shape["intermediate_size"], shape["head_dim"]
    q, kv = shape["num_attention_heads"] * width, shape["num_key_value_heads"] * width
    linear = {"q_proj": (q, d), "k_proj": (kv, d), "v_proj": (kv, d), "o_proj": (d, q)}
    shapes: dict[str, tuple[int, ...]] = {f"self_attn.{n}.weight": s for n, s in linear.items()}
    shapes |= {f"mlp.{n}_proj.weight": (inner, d) for n in ("gate", "up")}
    shapes |= {"mlp.down_proj.weight": (d, inner)}
    return shapes | {f"{n}_layernorm.weight": (d,) for n in ("input", "post_attention")}


def layer_bytes(shape: dict[str, int]) -> int:
    """Bytes of one layer's tensors in float64."""
    return sum(8 * torch.Size(s).numel() for s in layer_shapes(shape).values())


def draw(shape: tuple[int, ...], source: torch.Generator) -> torch.Tensor:
    """A random gain, or a matrix that keeps the size of what it multiplies."""
    if len(shape) == 1:
        return (1 + 0.1 * torch.randn(shape, generator=source)).to(torch.bfloat16)
    return torch.randn(shape, generator=source).mul_(shape[1] ** -0.5).to(torch.bfloat16)


def write_checkpoint(directory: Path, shape: dict[str, int], depth: int) -> int:
    """A random checkpoint, a shard for the embedding and one a layer; its bytes on disk."""
    from safetensors.torch import save_file

    source, weight_map = torch.Generator().manual_seed(0), {}
    table = {"model.embed_tokens.weight": (shape["vocab_size"], shape["hidden_size"])}
    for part in range(depth + 1):
        start = f"model.layers.{part - 1}." if part else ""
        shapes = layer_shapes(shape) if part else table
        tensors = {start + name: draw(size, source) for name, size in shapes.items()}
        file = f"model-{part:05d}-of-{depth:05d}.safetensors"
        save_file(tensors, directory / file)
        weight_map |= dict.fromkeys(tensors, file)
    config = shape | {"model_type": "llama", "num_hidden_layers": depth}
    config |= {"max_position_embeddings": 8192}
    (directory / "config.json").write_text(json.dumps(config))
    index = {"metadata": {}, "weight_map": weight_map}
    (directory / "model.safetensors.index.json").write_text(json.dumps(index))
    return sum(f.stat().st_size for f in directory.glob("*.safetensors"))


def stream(directory: Path, n: int) -> list[int]:
    """Peaks before the first layer and after each, gated and measured on n random tokens.

    Raises ArithmeticError where a layer misses the gate or the identity.
    """
    from numerics.trained.formats.checkpoint import open_checkpoint
    from numerics.trained.forward import layers
    from numerics.trained.measures import identity
    from numerics.trained.models.architectures import open_model
    from numerics.trained.tokens import Tokens

    model = open_model(open_checkpoint(directory))
    vocabulary = int(json.loads((directory / "config.json").read_text())["vocab_size"])
    drawn = torch.randint(vocabulary, (n,), generator=torch.Generator().manual_seed(1))
    tokens = Tokens(tuple(drawn.tolist()), (0,) * n, n, "")
    with torch.no_grad():
        first = model.embed(tokens.ids, tokens.type_ids)
        identity.relative_error(first, first)
        peaks = [largest_resident()]
        for index, layer, x in layers(model, tokens):
            parity, walk = identity.parity(x, layer), identity.measure(x, layer, torch.arange(1))
            if not (parity.ok and walk.ok):
                raise ArithmeticError(f"layer {index}: {parity}, {walk}")
            peaks.append(largest_resident())
    return peaks


def measured(directory: Path, n: int) -> list[int]:
    """As `stream`, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.streaming", "--stream", str(directory)]
    root = Path(__file__).resolve().parents[1]
    found = subprocess.run(
        [*command, "--n", str(n)], cwd=root, capture_output=True, text=True, check=False
    )
    if found.returncode:
        raise RuntimeError(f"the measured process failed: {found.stderr}")
    return json.loads(found.stdout.splitlines()[-1])


def report(shape: dict[str, int], peaks: Sequence[int], stored: int) -> str:
    """Peaks in units of a layer, and the projection."""
    layer, base, depth = layer_bytes(shape), peaks[0], len(peaks) - 1
    above = [peak - base for peak in peaks[1:]]
    growth = (above[-1] - above[0]) / max(1, depth - 1)
    lines = [
        f"{depth} layers of {layer / 1e9:.3g} GB in float64, {stored / 1e9:.3g} GB on disk",
        f"before the first layer {base / 1e9:.3g} GB",
    ]
    for i, size in enumerate(above):
        lines.append(f"after layer {i}: {size / 1e9:.3g} GB more, {size / layer:.2f} layers")
    projected = peaks[-1] + (PROJECTED - depth) * growth
    lines.append(
        f"projection for {PROJECTED} layers: {projected / 1e9:.3g} GB "
        f"({growth / layer:.2f} layers more with each); all at once would be "
        f"{(base + PROJECTED * layer) / 1e9:.3g} GB"
    )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write, measure, print; or, with --stream, be the process that is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=2, help="layers written (default 2)")
    parser.add_argument("--n", type=int, default=32, help="tokens (default 32)")
    parser.add_argument("--shrink", type=int, default=1, help="divide widths and vocabulary")
    parser.add_argument("--stream", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.stream:
        print(json.dumps(stream(chosen.stream, chosen.n)))
        return
    shape = {k: v if "heads" in k else v // chosen.shrink for k, v in SHAPE.items()}
    with tempfile.TemporaryDirectory(prefix="streaming-") as directory:
        stored = write_checkpoint(Path(directory), shape, chosen.layers)
        peaks = measured(Path(directory), chosen.n)
    print(machine(*PACKAGES))
    print(report(shape, peaks, stored))


if __name__ == "__main__":
    main()
