"""The trusted base: what accepts or refuses a derivation, and nothing else."""
