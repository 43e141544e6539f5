"""A conversation as one HTML page that loads nothing and runs nothing: all text of others is escaped."""

from html import escape
from typing import Final

from showcaller.transport.doors.export.form import (
    Entry,
    ending,
    facts,
    heading,
    one_line,
    shown,
    steps_of,
    task_line,
)

FOLDED_FROM: Final = 4000
"""Characters from which a text is folded away."""

_STYLE: Final = (
    "body{font-family:system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;line-height:1.4}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;padding:.75rem;border:1px solid #8886;"
    "border-radius:.4rem}dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}dd{margin:0}"
    ":root{color-scheme:light dark}"
)


class HtmlPage:
    """The form ``html``."""

    media_type = "text/html; charset=utf-8"

    def begin(self, session: Entry) -> str:
        """Give the head of the page, the title and the facts."""
        title = _escaped(one_line(session.get("title") or "untitled"))
        told = "".join(
            f"<dt>{_escaped(label)}</dt><dd>{_escaped(value)}</dd>" for label, value in facts(session)
        )
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src '
            '\'unsafe-inline\'"><meta name="viewport" content="width=device-width">'
            f"<title>{title}</title><style>{_STYLE}</style></head>\n<body><h1>{title}</h1><dl>{told}</dl>\n"
        )

    def message(self, message: Entry) -> str:
        """Give a prompt with what became of it, or a reply."""
        cut = "<p>The middle of a longer text was left out.</p>" if message.get("truncated") else ""
        ended = ending(message)
        became = "" if ended is None else f"<p>→ {_escaped(ended)}</p>"
        text = _block(str(message["text"]))
        steps = steps_of(message)
        did = "" if steps is None else _folded(steps[0], steps[1])
        both = did + text if message["role"] == "assistant" else text + did
        return f"<section><h2>{_escaped(heading(message))}</h2>{both}{cut}{became}</section>\n"

    def task(self, task: Entry) -> str:
        """Give a task."""
        output = _block(str(task["output"])) if task.get("output") else ""
        return f"<section><h2>In the background</h2><p>{_escaped(task_line(task))}</p>{output}</section>\n"

    def end(self) -> str:
        """Give the end of the page."""
        return "</body></html>\n"


def _escaped(text: str) -> str:
    return escape(shown(text))


def _block(text: str) -> str:
    block = f"<pre>{_escaped(text)}</pre>"
    if len(text) < FOLDED_FROM:
        return block
    return _folded(f"{len(text):,} characters", text)


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>{_escaped(summary)}</summary><pre>{_escaped(text)}</pre></details>"
