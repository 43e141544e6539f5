"""One module per command: its arguments, its checks and its help side by side; found by ``group`` by name."""
