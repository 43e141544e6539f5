"""The guides run as they are printed, and the reference is what the code says."""
