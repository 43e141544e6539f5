"""Where the results of a fan-out go: a table at its end, or JSON Lines or CSV as they come."""

import csv
import io
from collections.abc import Iterable
from typing import Any, Protocol

from showcaller.actors.contract.fanout import ItemResult, Summary, compact_json
from showcaller.transport.doors.cli.fanout.options import Format
from showcaller.transport.doors.cli.output import coloured, terminal_width, write
from showcaller.transport.doors.cli.states import word_colour
from showcaller.transport.doors.cli.table import Column, table_lines
from showcaller.transport.doors.cli.visible import fit, json_safe, readable, visible

FIELDS = ("item", "session", "status", "exitCode", "reply", "seconds", "attempts", "error")
LINE_END = "\r\n"
LONGEST_CELL = 1_000
WIDEST_ITEM = 120
COLUMNS = (
    Column("ITEM", cut="middle"),
    Column("STATUS", colour=word_colour),
    Column("EXIT", right=True),
    Column("SECONDS", right=True),
    Column("TRIES", right=True),
    Column("REPLY", cut="end"),
)


class ResultSink(Protocol):
    """Takes the results of one fan-out in the order in which they come."""

    @property
    def streams(self) -> bool:
        """Whether it writes while the fan-out runs."""
        ...

    def add(self, result: ItemResult) -> None:
        """Take one result; raises ``OutputLost`` when it cannot be written."""

    def end(self, summary: Summary) -> None:
        """Take the sums; called once, after the last result."""

    def cut_off(self) -> None:
        """Write what was kept so far; called instead of ``end`` when the other results will not come."""


def sink_for(form: Format) -> ResultSink:
    """Give the sink for a format."""
    if form == "jsonl":
        return JsonLines()
    return CommaSeparated() if form == "csv" else ResultTable()


class JsonLines:
    """A line of JSON per result, and one for the summary."""

    streams = True

    def add(self, result: ItemResult) -> None:
        """Write the result's line."""
        write(json_safe(result.to_json()))

    def end(self, summary: Summary) -> None:
        """Write the summary's line."""
        write(json_safe(summary.to_json()))

    def cut_off(self) -> None:
        """Write nothing: every result has its line already, and only a whole fan-out has its sums."""


class CommaSeparated:
    """A title line and a line per result; text as it is when it goes to a file, harmless on a terminal."""

    streams = True

    def __init__(self) -> None:
        self._harmless = terminal_width() is not None
        self._started = False

    def add(self, result: ItemResult) -> None:
        """Write the result's line, and the titles before the first."""
        self._start()
        fields: dict[str, Any] = result.model_dump(mode="json", by_alias=True)
        fields["item"] = item_text(result)
        self._write(fields.get(name, "") for name in FIELDS)

    def end(self, summary: Summary) -> None:
        """Write the titles if there was no result; the sums are no row."""
        self._start()

    def cut_off(self) -> None:
        """Write nothing: every result has its line already."""

    def _start(self) -> None:
        if not self._started:
            self._started = True
            self._write(FIELDS)

    def _write(self, values: Iterable[Any]) -> None:
        line = io.StringIO()
        # The characters of the line's end are those that get a field quoted: both, and then neither written.
        csv.writer(line, lineterminator=LINE_END).writerow(values)
        text = line.getvalue().removesuffix(LINE_END)
        write(readable(text) if self._harmless else text)


class ResultTable:
    """A table written when all is over, in the order of the items; it keeps one short row per result.

    Items that never started have no rows, only a line with their number: they may be most of all.
    """

    streams = False

    def __init__(self) -> None:
        self._rows: list[tuple[int, tuple[str, ...]]] = []

    def add(self, result: ItemResult) -> None:
        """Keep the result's row."""
        if result.status != "skipped":
            self._rows.append((result.number, _row(result)))

    def end(self, summary: Summary) -> None:
        """Write the table."""
        self._write()
        if summary.skipped:
            write(f"{summary.skipped:,} not started")

    def cut_off(self) -> None:
        """Write the table of the results that came, if any did."""
        if self._rows:
            self._write()

    def _write(self) -> None:
        rows = [row for _, row in sorted(self._rows, key=lambda placed: placed[0])]
        for line in table_lines(COLUMNS, rows, terminal_width(), coloured=coloured()):
            write(line)


def _row(result: ItemResult) -> tuple[str, ...]:
    return (
        item_cell(result),
        result.status,
        "-" if result.exit_code is None else str(result.exit_code),
        f"{result.seconds:.2f}",
        str(result.attempts),
        reply_cell(result.reply or result.error or ""),
    )


def item_text(result: ItemResult) -> str:
    """Give a result's item as text: a text as it is, any other JSON value in its compact form."""
    return result.item if isinstance(result.item, str) else compact_json(result.item)


def item_cell(result: ItemResult) -> str:
    """Give a result's item as one line, cut in its middle when it would make every line of a table long."""
    item = item_text(result)
    if len(item) > LONGEST_CELL:  # enough of both ends for what is shown, without looking at all of it
        item = item[:WIDEST_ITEM] + item[-LONGEST_CELL:]
    return fit(visible(item), WIDEST_ITEM, "middle")


def reply_cell(reply: str) -> str:
    """Give a reply as one line: all of it when it is one, else its first line and how many follow."""
    first, _, rest = reply.strip("\r\n").partition("\n")
    cell = visible(first[:LONGEST_CELL].strip())
    more = rest.count("\n") + 1 if rest else 0
    return f"{cell} (+{more} {'line' if more == 1 else 'lines'})" if more else cell
