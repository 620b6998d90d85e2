"""What queries and lists share that read rows: requests, columns, rows of values, watching."""
