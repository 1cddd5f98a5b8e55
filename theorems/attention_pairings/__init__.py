"""AP1 to AP10: knowledge worlds and attention pairings."""
