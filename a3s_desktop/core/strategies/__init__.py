"""Question strategies: each decides which pair to ask next and what an answer does to the partition."""
