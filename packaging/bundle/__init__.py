"""What `build.py` needs to make the packaged program: what goes in, notices, the bill of materials, archives."""
