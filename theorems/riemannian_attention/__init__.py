"""RA1 to RA18: Riemannian attention and the Fiber Bundle Transformer."""
