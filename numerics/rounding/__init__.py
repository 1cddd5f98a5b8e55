"""Rounding bounds that a computation carries with it."""
