"""The tables of a store: brought to this version's, and compared with those that its version makes."""

import re
import sqlite3
from pathlib import Path
from typing import Any, Final

from peewee import SqliteDatabase

from showcaller.store.errors import StoreDamaged, StoreNewer, StoreUnavailable, os_refusal
from showcaller.store.models import MODELS

MIGRATIONS: Final = Path(__file__).parent / "migrations"
HISTORY: Final = "schema_migration"
"""The library's own table, which says what was applied and when."""

_MIGRATION: Final = re.compile(r"[0-9]{4}_")
_COLUMNS: Final = {
    (model._meta.table_name, field.column_name) for model in MODELS for field in model._meta.sorted_fields
}
_COLUMNS_THERE: Final = (
    "SELECT made.name, part.name FROM sqlite_master AS made, pragma_table_info(made.name) AS part"
    " WHERE made.type = 'table'"
)
_PARTS: Final = "SELECT type, name, tbl_name, sql FROM sqlite_master"
_OTHERS_SHOWN: Final = 3
_LONGEST: Final = 100

Parts = dict[tuple[str, str, str], str]


def migrate(file: Path, database: SqliteDatabase) -> None:
    """Apply what is pending; raises a StoreError."""
    try:
        _runner(file, database).up()
    except OSError as error:
        raise os_refusal(file, error) from error


def pending(file: Path, database: SqliteDatabase) -> list[str]:
    """Name the migrations that the file still needs; raises StoreNewer when it has unknown ones."""
    return [state.name for state in _states(file, database) if state.applied is None]


def check_tables(file: Path, connection: sqlite3.Connection) -> None:
    """Look whether every column is there that this version uses; raises StoreDamaged."""
    missing = _COLUMNS - set(connection.execute(_COLUMNS_THERE))
    if missing:
        raise damaged_schema(file, f"there is no {'.'.join(min(missing))}")


def check_as_made(file: Path, database: SqliteDatabase) -> None:
    """Look whether all that is there is as its version makes it, and nothing else; raises StoreDamaged.

    What somebody else has put there, such as a trigger, would run with our statements, and those of the
    migrations too: it is looked before any.
    """
    states = _states(file, database)
    applied = [state.name for state in states if state.applied is not None]
    if applied != [state.name for state in states][: len(applied)]:
        raise damaged_schema(file, "of its migrations one is missing in between")
    there, made = _parts(database), _parts_of_version(file, applied)
    others = sorted(there.keys() - made.keys())
    if others:
        more = f" and {len(others) - _OTHERS_SHOWN} more" if len(others) > _OTHERS_SHOWN else ""
        raise StoreDamaged(
            file,
            f"it has {', '.join(map(_told, others[:_OTHERS_SHOWN]))}{more}, which Showcaller never makes; "
            "name another copy, which was made by: showcaller backup",
        )
    missing = sorted(made.keys() - there.keys())
    if missing:
        raise damaged_schema(file, f"there is no {_told(missing[0]).removeprefix('the ')}")
    changed = sorted(part for part, sql in made.items() if there[part] != sql and part[2] != HISTORY)
    if changed:
        raise StoreDamaged(
            file,
            f"{_told(changed[0])} is not as Showcaller makes it; name another copy, which was made by: "
            "showcaller backup",
        )


def damaged_schema(file: Path, what: str) -> StoreDamaged:
    """Give the error of a file in which something is missing."""
    return StoreDamaged(
        file,
        f"its tables are not as they were made ({what}); restore a backup, or move the file away to start "
        "empty",
    )


def _parts(database: SqliteDatabase) -> Parts:
    """Give all tables, indexes, triggers and views, each with the SQL that made it, its spaces made alike."""
    rows = database.execute_sql(_PARTS).fetchall()
    return {(str(kind), str(name), str(of)): " ".join(str(sql).split()) for kind, name, of, sql in rows}


def _parts_of_version(file: Path, applied: list[str]) -> Parts:
    if not applied:
        return {}
    fresh = SqliteDatabase(":memory:")
    try:
        _runner(file, fresh).up(applied[-1])
        return _parts(fresh)
    finally:
        fresh.close()


def _told(part: tuple[str, str, str]) -> str:
    kind, name, table = (word[:_LONGEST] for word in part)
    return f"the {kind} {name!r}" if name == table else f"the {kind} {name!r} of {table!r}"


def _states(file: Path, database: SqliteDatabase) -> list[Any]:
    """Give what the file knows of each migration; raises StoreNewer when it has unknown ones."""
    states: list[Any] = _runner(file, database).status()
    if not all(_MIGRATION.match(str(state.name)) for state in states):
        raise damaged_schema(file, "the list of its migrations names one that cannot be")
    unknown = [state.name for state in states if state.path is None]
    if unknown:
        raise StoreNewer(
            file,
            f"it was written by a newer version (schema {max(unknown)}); install that version or a later one",
        )
    return states


def _runner(file: Path, database: SqliteDatabase) -> Any:
    from playhouse.migrations import Runner  # type: ignore[import-untyped]

    runner = Runner(database, str(MIGRATIONS))
    known = runner.migrations()
    # Without a descriptor to spare the folder lists as empty, and every migration of the file as unknown.
    if not known:
        raise StoreUnavailable(
            file, "this program's own migrations cannot be listed; close some files, or install it anew"
        )
    runner.migrations = lambda: known
    return runner
