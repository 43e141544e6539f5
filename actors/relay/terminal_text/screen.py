"""A terminal of unknown size: text and cursor as a program left them, everything else forgotten.

Lines are never wrapped and never scroll away, because nobody knows how large the window was. Where the size
matters it is taken to be ``HEIGHT`` by ``WIDTH``. No movement allocates anything, and each step costs at most
a screen's width or height: what a program writes takes time in proportion to its length, whatever it writes.
"""

from typing import Final

from showcaller.actors.relay.terminal_text.cells import BLANK, Row, mark, overwrite, part, shown

WIDTH: Final = 500
"""Columns that the cursor can be sent to; text itself may go on beyond."""

HEIGHT: Final = 50
"""Lines that absolute positions and the clearing of the screen reach, counted from the last one."""

_TALLEST: Final = 200
"""Who goes up by more than this means the top of the screen, not a line that it wrote itself."""

_TAB: Final = 8


class Screen:
    """The lines that were written, and a cursor among them. Not thread-safe."""

    def __init__(self) -> None:
        self.rows: list[Row] = [[]]
        self._x = 0
        self._y = 0
        self._top = 0  # the screen's first line: what is above has scrolled out of it
        self._floor = 0  # what was above when the screen was cleared is out of reach
        self._saved = (0, 0)
        self._last = ""
        self._main: tuple[int, int] | None = None  # the cursor to come back to from the other screen
        self._placed = False

    # Writing

    def write(self, text: str) -> None:
        """Write printable ASCII at the cursor."""
        if self._main is None:
            self._put(list(text))
            self._last = text[-1]

    def write_wide(self, text: str) -> None:
        """Write any other text at the cursor; what has no place in a line is dropped."""
        if self._main is not None:
            return
        for character in text:
            sign, width = shown(character)
            if width == 0:
                if sign:
                    mark(self.rows[self._y] if self._y < len(self.rows) else [], self._x, sign)
                continue
            self._put([sign, ""] if width == 2 else [sign])
            self._last = sign if width == 1 else ""

    def repeat(self, times: int) -> None:
        """Write the last character again, at most to the right edge."""
        times = min(times, WIDTH - self._x)
        if self._main is None and self._last and times > 0:
            self._put([self._last] * times)

    def _put(self, cells: Row) -> None:
        row = self._row()
        overwrite(row, self._x, cells)
        self._x += len(cells)

    def _row(self) -> Row:
        """Give the cursor's row, made to reach the cursor, within bounds that keep this cheap."""
        while len(self.rows) <= self._y:
            self.rows.append([])
        self._top = max(self._top, len(self.rows) - HEIGHT)
        row = self.rows[self._y]
        if self._x > len(row):
            self._x = min(self._x, max(len(row), WIDTH))
            row.extend([BLANK] * (self._x - len(row)))
        return row

    # Controls

    def carriage_return(self) -> None:
        """Go to the first column."""
        self._x = 0

    def line_feed(self) -> None:
        """Go to the first column of the next line: what comes through a pipe has no carriage returns."""
        if self._main is None:
            self._x = 0
            self._y += 1
            if self._y >= len(self.rows):
                self._row()

    def backspace(self) -> None:
        """Go one column back."""
        self._x = max(0, self._x - 1)

    def tab(self) -> None:
        """Go to the next tabulator, on lines beyond the width as well."""
        if self._main is None:
            target = (self._x // _TAB + 1) * _TAB
            if target > WIDTH:
                row = self._row()
                target = (self._x // _TAB + 1) * _TAB
                row.extend([BLANK] * (target - len(row)))
            self._x = target

    # Movements, from the cursor or to a place counted from zero

    def up(self, lines: int) -> None:
        """Go up, at most to where the screen was last cleared."""
        self._y = min(self._y, self._top) if lines > _TALLEST else max(self._floor, self._y - lines)

    def down(self, lines: int) -> None:
        """Go down, at most to the end of the screen."""
        self._y = max(self._y, min(self._y + lines, self._bottom()))

    def forward(self, columns: int) -> None:
        """Go right, at most to the edge."""
        self._x = max(self._x, min(self._x + columns, WIDTH))

    def back(self, columns: int) -> None:
        """Go left."""
        self._x = max(0, self._x - columns)

    def to_column(self, column: int) -> None:
        """Go to a column of this line."""
        self._x = max(0, min(column, WIDTH))

    def to_line(self, line: int) -> None:
        """Go to a line of the screen."""
        self._y = max(self._top, min(self._top + line, self._bottom()))
        self._placed = self._placed or line > 0

    def save(self) -> None:
        """Remember where the cursor is."""
        self._saved = (self._x, self._y)

    def restore(self) -> None:
        """Go back to the remembered place."""
        self._x, self._y = self._saved
        self._y = min(self._y, self._bottom())

    def _bottom(self) -> int:
        return max(len(self.rows) - 1, self._top + HEIGHT - 1)

    # Erasing

    def erase_in_line(self, what: int) -> None:
        """Erase from the cursor to the end (0), from the beginning to the cursor (1), or all (2)."""
        if self._main is not None or self._y >= len(self.rows):
            return
        row = self.rows[self._y]
        if what == 0:
            part(row, self._x)
            del row[self._x :]
        elif what == 1:
            end = min(self._x + 1, len(row))
            start = max(0, end - WIDTH)
            overwrite(row, start, [BLANK] * (end - start))
        elif what == 2:
            row.clear()

    def erase_in_screen(self, what: int) -> None:
        """Erase below the cursor (0), above it (1), the screen (2), or what has scrolled out of it (3)."""
        if self._main is not None:
            return
        if what == 0:
            self.erase_in_line(0)
            del self.rows[self._y + 1 :]
        elif what == 1:
            self.erase_in_line(1)
            for row in self.rows[self._top : self._y]:
                row.clear()
        elif what == 2:
            del self.rows[self._top :]
            self._floor = self._top
        elif what == 3:
            self._forget(self._top)
        self._keep_one()

    def erase_characters(self, count: int) -> None:
        """Blank characters from the cursor on."""
        if self._main is None and self._y < len(self.rows):
            row = self.rows[self._y]
            count = min(count, WIDTH, len(row) - self._x)
            if count > 0:
                overwrite(row, self._x, [BLANK] * count)

    def shift_characters(self, count: int) -> None:
        """Insert blanks at the cursor, or below zero delete characters; not in lines beyond the width."""
        if self._main is not None or self._y >= len(self.rows):
            return
        row = self.rows[self._y]
        if self._x < len(row) <= WIDTH:
            part(row, self._x)
            if count < 0:
                part(row, self._x - count)
                del row[self._x : self._x - count]
            else:
                row[self._x : self._x] = [BLANK] * min(count, WIDTH)
                part(row, WIDTH)
                del row[WIDTH:]

    def shift_lines(self, count: int) -> None:
        """Insert empty lines at the cursor's, or below zero delete lines; inside the screen."""
        if self._main is not None or self._y < self._top:
            return
        self._x = 0
        if self._y >= len(self.rows):
            return
        if count < 0:
            del self.rows[self._y : self._y - count]
        else:
            room = self._top + HEIGHT - self._y
            self.rows[self._y : self._y] = [[] for _ in range(min(count, room))]
            del self.rows[self._top + HEIGHT :]
        self._keep_one()

    def reset(self) -> None:
        """Forget everything, as after a full reset of the terminal."""
        self.rows = [[]]
        self._x = self._y = self._top = self._floor = 0
        self._saved = (0, 0)
        self._last = ""
        self._main = None

    # The other screen

    def open_alternate(self) -> None:
        """Show the other screen: what is drawn there is not kept."""
        if self._main is None:
            self._main = (self._x, self._y)

    def close_alternate(self) -> None:
        """Come back from it; who comes back without having gone was there before this text began."""
        if self._main is not None:
            self._x, self._y = self._main
            self._main = None
        elif self._placed:
            self.reset()
        self._placed = False

    def _forget(self, count: int) -> None:
        del self.rows[:count]
        self._top -= count
        self._floor = max(0, self._floor - count)
        self._y = max(0, self._y - count)
        self._saved = (self._saved[0], max(0, self._saved[1] - count))

    def _keep_one(self) -> None:
        if not self.rows:
            self.rows.append([])
