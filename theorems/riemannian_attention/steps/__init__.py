"""Parts of derivations about Riemannian attention."""
