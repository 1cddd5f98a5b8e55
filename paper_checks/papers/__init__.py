"""The papers: one file each, and their list."""
