"""SQL that peewee generates once from the models, and that runs on a bare connection as often as needed."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple, cast

from peewee import BaseQuery, Context, Node, SqliteDatabase

from showcaller.store.models import StoreModel
from showcaller.store.soundness import RowShape, mends

_DIALECT: Final = SqliteDatabase(None)
"""Never opened: it only knows how SQLite wants its SQL."""


class _Name(NamedTuple):
    """A parameter's place in a generated statement."""

    name: str


class Slot(Node):
    """A place in a query for a value that is given by name when the statement runs."""

    def __init__(self, name: str) -> None:
        self._place = _Name(name)

    def __sql__(self, ctx: Context) -> Context:
        """Leave the place in the list of parameters, past every field's conversion."""
        return cast(Context, ctx.value(self._place, converter=False))


class Statement:
    """A query made into text once. Immutable, so safe to use from any thread."""

    def __init__(self, query: BaseQuery) -> None:
        self.sql, places = query.bind(_DIALECT).sql()
        self._shape = RowShape(getattr(query, "_returning", None) or ())
        self._places = tuple(place.name if type(place) is _Name else place for place in places)
        self._named = tuple(type(place) is _Name for place in places)
        # Picking two and more values at once is done in C; a single one would not come as a tuple.
        self._pick = itemgetter(*self._places) if len(places) > 1 and all(self._named) else None

    def bind(self, values: Mapping[str, Any]) -> Sequence[Any]:
        """Give the parameters in order; raises KeyError when one is missing from ``values``."""
        if self._pick is not None:
            picked: tuple[Any, ...] = self._pick(values)
            return picked
        return [
            values[place] if named else place for place, named in zip(self._places, self._named, strict=True)
        ]

    def run(self, db: sqlite3.Connection, **values: Any) -> sqlite3.Cursor:
        """Run once, for a statement that gives no rows; the cursor knows ``rowcount`` and ``lastrowid``."""
        return db.execute(self.sql, self.bind(values))

    def run_many(self, db: sqlite3.Connection, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run once for each of ``rows``, crossing into SQLite once."""
        db.executemany(self.sql, map(self.bind, rows))

    def row(self, db: sqlite3.Connection, **values: Any) -> tuple[Any, ...] | None:
        """Run to its end and give the first row, None without one; raises RowDamaged."""
        found = self.rows(db, **values)
        return found[0] if found else None

    def rows(self, db: sqlite3.Connection, **values: Any) -> list[tuple[Any, ...]]:
        """Run and give every row; raises RowDamaged for one that holds what is never written there."""
        return self._sound(db, db.execute(self.sql, self.bind(values)))

    def record(self, db: sqlite3.Connection, **values: Any) -> dict[str, Any] | None:
        """Run to its end and give the first row as a dict by column name, None without one."""
        found = self.records(db, **values)
        return found[0] if found else None

    def records(self, db: sqlite3.Connection, **values: Any) -> list[dict[str, Any]]:
        """Run and give every row as a dict by column name; raises RowDamaged as ``rows`` does."""
        cursor = db.execute(self.sql, self.bind(values))
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in self._sound(db, cursor)]

    def _sound(self, db: sqlite3.Connection, cursor: sqlite3.Cursor) -> list[tuple[Any, ...]]:
        return self._shape.sound(cursor.fetchall(), mend=mends(db))


def insertion(model: type[StoreModel], *, leave_out: frozenset[str] = frozenset()) -> Statement:
    """Make the statement that inserts a row of ``model``, with a slot named like each column.

    ``leave_out`` names columns that get no value: the one that SQLite numbers, and those that are empty, or
    what the table's definition says, until something happens. Each value costs time at every row.
    """
    foreign = leave_out - model._meta.fields.keys()
    if foreign:
        raise LookupError(f"{model.__name__} has no {', '.join(sorted(foreign))}")
    fields = [field for field in model._meta.sorted_fields if field.name not in leave_out]
    return Statement(model.insert({field: Slot(field.name) for field in fields}))
