"""The engine: arrays in, arrays out. No files, threads, clock, Qt or global random state in this package."""
