"""What a program wrote to a terminal, as the plain lines that somebody in front of it would read."""

from showcaller.actors.relay.terminal_text.tail import Tail, render_tail

__all__ = ["Tail", "render_tail"]
