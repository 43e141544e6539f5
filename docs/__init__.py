"""The documentation, and the tool that writes the parts of it that stand in the code."""
