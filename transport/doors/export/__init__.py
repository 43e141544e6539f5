"""A whole conversation as a readable text: Markdown, HTML or JSON Lines, a piece at a time."""
