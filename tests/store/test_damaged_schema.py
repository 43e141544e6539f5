"""A file whose tables, or whose list of migrations, are not as they were made: told as damage."""

import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from showcaller.store.backup import restore
from showcaller.store.database import OpenDatabase, open_for_reading, open_for_writing
from showcaller.store.errors import StoreDamaged
from tests.store.test_database import changed

DAMAGE = [
    "UPDATE schema_migration SET name = CAST(X'72FFFE' AS TEXT) WHERE name LIKE '0002%'",
    "UPDATE schema_migration SET name = '' WHERE name LIKE '0002%'",
    "UPDATE schema_migration SET name = X'FF' WHERE name LIKE '0002%'",
    "UPDATE schema_migration SET name = 5 WHERE name LIKE '0003%'",
    "DROP TABLE message",
    "DROP TABLE setting",
    "DROP TABLE writer_batch",
    "ALTER TABLE session DROP COLUMN effort",
    "ALTER TABLE outbox RENAME TO elsewhere",
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a store that nobody uses."""
    path = tmp_path_factory.mktemp("whole") / "store.db"
    open_for_writing(path).close()
    return path


@pytest.fixture(params=DAMAGE)
def damaged(request: pytest.FixtureRequest, whole: Path, tmp_path: Path) -> Path:
    """Have a copy of that store, damaged in one way."""
    path = tmp_path / "damaged.db"
    shutil.copy(whole, path)
    changed(path, request.param)
    return path


@pytest.mark.parametrize("opener", [open_for_reading, open_for_writing])
def test_it_opens_for_nobody(damaged: Path, opener: Callable[[Path], OpenDatabase]) -> None:
    with pytest.raises(StoreDamaged, match="backup") as refused:
        opener(damaged)
    assert refused.value.path == damaged


def test_it_is_restored_nowhere(damaged: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreDamaged) as refused:
        restore(damaged, tmp_path / "new" / "store.db", at=7_000, alone=nullcontext)
    assert refused.value.path == damaged
    assert not (tmp_path / "new" / "store.db").exists()
