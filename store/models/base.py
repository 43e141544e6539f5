"""What every table has in common, and words that stand in the SQL itself."""

# ruff: noqa: D106 - the classes named Meta are peewee's way to say what a table is like

from typing import Any

from peewee import SQL, AutoField, Context, Field, Model, Node, NodeList


class RisingField(AutoField):
    """An integer primary key whose numbers never come back, also when the newest rows are deleted."""

    def ddl(self, ctx: Context) -> NodeList:
        """Give the column's definition with ``AUTOINCREMENT``."""
        return NodeList((super().ddl(ctx), SQL("AUTOINCREMENT")))


ZERO: list[Node] = [SQL("DEFAULT 0")]
"""What a column that came later says for the rows before it."""


class StoreModel(Model):
    """Base of every table."""

    class Meta:
        legacy_table_names = False


def literal(text: str) -> SQL:
    """Write a fixed word into the SQL itself, where a parameter would keep SQLite from a partial index."""
    return SQL(f"'{text}'")


def one_of(field: "Field[Any]", *words: str) -> Any:
    """The condition that a field holds one of these words, in a form that a partial index can have."""
    return field.in_([literal(word) for word in words])
