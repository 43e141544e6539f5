"""How SQLite would run a statement."""

from showcaller.store.database import open_for_reading
from showcaller.store.statement import Statement
from tests.store.desk import Desk


def plan(desk: Desk, statement: Statement, **values: object) -> str:
    """Ask SQLite for its plan, a step a line."""
    database = open_for_reading(desk.path)
    try:
        steps = database.connection.execute(
            f"EXPLAIN QUERY PLAN {statement.sql}", statement.bind(values)
        ).fetchall()
    finally:
        database.close()
    return "\n".join(step[3] for step in steps)
