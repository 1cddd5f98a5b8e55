"""Parts of derivations about connection walks."""
