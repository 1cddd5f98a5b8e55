"""What the notebooks share: theorem objects as text, exact instances, and pictures of walks."""
