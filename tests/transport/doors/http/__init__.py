"""The HTTP door and its client."""
