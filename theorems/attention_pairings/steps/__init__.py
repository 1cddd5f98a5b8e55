"""Parts of derivations about attention pairings."""
