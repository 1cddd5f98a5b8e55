"""Formal statements, their proofs, and what the kernel says of them."""
