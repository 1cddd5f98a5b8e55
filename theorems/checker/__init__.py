"""What accepts or refuses a derivation, beside the language in statement.py and rules.py."""
