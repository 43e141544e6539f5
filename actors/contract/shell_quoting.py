"""Where each character of a command line stands for the shell: outside of all quoting, or in what.

A word that was quoted for the shell is safe only where the shell would read it as a word of a command:
inside quotes, in a comment or in a here-document its own quotes mean something else. The reader here knows
what POSIX shells and bash share. What it does not follow (arithmetic, here-documents…) it calls so from
there to the end, so an answer "outside of all quoting" can be relied on.
"""

from typing import Final

SINGLE: Final = "single quotes"
DOUBLE: Final = "double quotes"
ANSI_C: Final = "$'…' quotes"
BACKTICKS: Final = "backticks"
BRACES: Final = "${…}"
COMMENT: Final = "a comment"
ESCAPED: Final = "a backslash"
ARITHMETIC: Final = "an arithmetic expression (or after one)"
HERE_DOCUMENT: Final = "a here-document (or after its <<)"
NESTED_QUOTES: Final = "quotes in ${…} in double quotes (or after them)"
NESTED_CASE: Final = 'a case in "$(…)" (or after it)'
SPLIT_OPERATOR: Final = "an operator that a backslash splits over two lines (or after it)"

_SUBSTITUTION: Final = "$(…)"
_PARENTHESIS: Final = "(…)"
_BLANKS_AND_OPERATORS: Final = frozenset(" \t\n;&|<>()")


def contexts(line: str) -> list[str | None]:
    """Say for each character of a command line in what it is quoted, None for outside of all quoting.

    Shells differ in whether they know ``$'…'``: what either of the two readings calls quoted is quoted.
    """
    plain = _Reader(line, ansi_c=False).read()
    bash = _Reader(line, ansi_c=True).read()
    return [one or other for one, other in zip(plain, bash, strict=True)]


class _Reader:
    """One pass over a line; ``stack`` holds what is open, outermost first: nothing in the command itself."""

    def __init__(self, line: str, *, ansi_c: bool) -> None:
        self.line = line
        self.ansi_c = ansi_c
        self.marks: list[str | None] = [None] * len(line)
        self.at = 0
        self.stack: list[str] = []
        self.word_begins = True

    def read(self) -> list[str | None]:
        while self.at < len(self.line):
            if self.line[self.at] == "\\":
                self._backslash()
            elif self.stack and self.stack[-1] == DOUBLE:
                self._in_double_quotes()
            elif self.stack and self.stack[-1] == BRACES:
                self._in_braces()
            else:
                self._in_command()
        return self.marks

    def _ahead(self, text: str) -> bool:
        return self.line.startswith(text, self.at)

    def _take(self, count: int, mark: str | None = None, *, word_begins: bool = False) -> None:
        outermost = self.stack[0] if self.stack else mark
        end = min(self.at + count, len(self.line))
        self.marks[self.at : end] = [outermost] * (end - self.at)
        self.at = end
        self.word_begins = word_begins

    def _open(self, what: str, count: int, *, word_begins: bool = False) -> None:
        self.stack.append(what)
        self._take(count, word_begins=word_begins)

    def _close(self, *, word_begins: bool = False) -> None:
        self._take(1, word_begins=word_begins)
        self.stack.pop()

    def _lose(self, why: str) -> None:
        self.stack = [why]
        self._take(len(self.line) - self.at)

    def _region(self, mark: str, opening: int, closing: str, *, escapes: bool) -> None:
        end = self.at + opening
        while end < len(self.line) and self.line[end] != closing:
            end += 2 if escapes and self.line[end] == "\\" else 1
        self._take(end + 1 - self.at, mark)

    def _backslash(self) -> None:
        continues = self._ahead("\\\n")
        if continues and self.line[self.at - 1 : self.at] in {"$", "(", "<"}:
            self._lose(SPLIT_OPERATOR)
        else:
            self._take(2, ESCAPED, word_begins=self.word_begins and continues)

    def _in_command(self) -> None:
        character = self.line[self.at]
        if self._lost_in_command():
            return
        if character == "#" and self.word_begins:
            end = self.line.find("\n", self.at)
            self._take((len(self.line) if end < 0 else end) - self.at, COMMENT)
        elif character == '"':
            self._open(DOUBLE, 1)
        elif character == "'":
            self._region(SINGLE, 1, "'", escapes=False)
        elif character in "()" and self.stack:
            self._parenthesis(character)
        elif not self._substitution():
            self._take(3 if self._ahead("<<<") else 1, word_begins=character in _BLANKS_AND_OPERATORS)

    def _lost_in_command(self) -> bool:
        if self._ahead("<<") and not self._ahead("<<<"):
            self._lose(HERE_DOCUMENT)
        elif self._ahead("(("):
            self._lose(ARITHMETIC)
        elif self.stack and self.word_begins and self._ahead("case"):
            # The patterns of a case have closing parentheses that nothing opened.
            self._lose(NESTED_CASE)
        else:
            return False
        return True

    def _parenthesis(self, character: str) -> None:
        if character == "(":
            self._open(_PARENTHESIS, 1, word_begins=True)
        else:
            closes_substitution = self.stack[-1] == _SUBSTITUTION
            self._close(word_begins=not closes_substitution)

    def _in_double_quotes(self) -> None:
        if self._ahead('"'):
            self._close()
        elif not self._substitution():
            self._take(1)

    def _in_braces(self) -> None:
        if self._ahead("}"):
            self._close()
        elif self.line[self.at] in "'\"" and DOUBLE in self.stack:
            self._lose(NESTED_QUOTES)
        elif self._ahead("'"):
            self._region(SINGLE, 1, "'", escapes=False)
        elif self._ahead('"'):
            self._open(DOUBLE, 1)
        elif not self._substitution():
            self._take(1)

    def _substitution(self) -> bool:
        """Take what begins with a dollar sign or a backtick, in whatever it stands."""
        if self._ahead("`"):
            self._region(BACKTICKS, 1, "`", escapes=True)
        elif self._ahead("$((") or self._ahead("$["):
            self._lose(ARITHMETIC)
        elif self._ahead("$("):
            self._command_substitution()
        elif self._ahead("${"):
            self._open(BRACES, 2)
        elif self._ahead("$$"):
            self._take(2)
        elif self._ahead("$'") and self.ansi_c and DOUBLE not in self.stack[-1:]:
            self._region(ANSI_C, 2, "'", escapes=True)
        else:
            return False
        return True

    def _command_substitution(self) -> None:
        if self.stack:
            self._open(_SUBSTITUTION, 2, word_begins=True)
        else:
            # A substitution in the command itself is read as the command is; where it ends changes nothing.
            self._take(2, word_begins=True)
