"""A3S Desktop: sort images by identity with few answers (active clustering with pairwise constraints)."""

__version__ = "0.1.0"
