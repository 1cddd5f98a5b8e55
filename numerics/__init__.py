"""Attention objects as arrays: what property tests, stress runs and users call."""
