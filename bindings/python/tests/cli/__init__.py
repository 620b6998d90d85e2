"""The command `quire`. These tests need rich and textual, and are skipped without."""
