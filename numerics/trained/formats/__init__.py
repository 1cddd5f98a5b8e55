"""Checkpoints on disk: safetensors and GGUF, their tensors, names and tokenizers."""
