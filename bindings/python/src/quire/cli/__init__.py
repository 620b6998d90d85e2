"""The command `quire`, which is also `python -m quire`: what is in a file, in a terminal."""
