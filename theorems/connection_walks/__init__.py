"""CW1 to CW14: attention as a connection walk."""
