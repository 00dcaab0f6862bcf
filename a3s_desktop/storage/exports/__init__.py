"""What leaves the program: one format a module, `formats` is the table of them all."""
