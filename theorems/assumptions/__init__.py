"""The vocabulary of hypotheses, with exact constructions."""
