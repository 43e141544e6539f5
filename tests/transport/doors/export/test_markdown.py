"""A conversation as Markdown: texts of others have no meaning in it, and are readable."""

import pytest

from showcaller.transport.doors.export.markdown import Markdown


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("wc -l a-b.md + 1 - 2", "# wc -l a-b.md + 1 - 2"),
        ("- no list", "# \\- no list"),
        ("+ nor here", "# \\+ nor here"),
        ("[x](http://y) `z` # *", "# \\[x\\]\\(http://y\\) \\`z\\` \\# \\*"),
    ],
)
def test_only_what_would_mean_something_is_escaped(title: str, line: str) -> None:
    assert Markdown().begin({"title": title}).splitlines()[0] == line
