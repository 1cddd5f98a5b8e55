"""Statements, derivations and exact checks of the theorems on the geometry of attention."""
