"""The C library: its functions, handles and values."""
