"""What is measured of attention modules, and the controls beside it."""
