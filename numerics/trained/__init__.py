"""Checkpoints read from disk, layer by layer, and measured against the theorems."""
