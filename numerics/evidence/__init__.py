"""What a property or a stress cell returns: comparisons, rates, tables."""
