"""One stress case a theorem."""
