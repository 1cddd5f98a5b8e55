"""Families of models: their tensors, and the attention module written out."""
