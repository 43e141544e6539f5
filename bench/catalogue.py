"""Which rows there are, under which names they can be asked for."""

from bench.row import Row
from bench.rows import (
    agent_turns,
    ask,
    ask_thread,
    beside,
    fan_out,
    features,
    growth,
    idle,
    idle_processes,
    line,
    lives,
    many_sessions,
    ping_pong,
    ring,
    spawn,
    stop,
    store_limit,
    tell_many,
    tell_one,
    through_worker,
    timers_create,
    timers_fire,
    timers_lateness,
    timers_memory,
    wake_busy,
    wake_idle,
)

FIGURES: tuple[Row, ...] = (
    tell_one.ROW,
    tell_many.ROW,
    ping_pong.ROW,
    ring.ROW,
    fan_out.ROW,
    ask.ROW,
    ask_thread.ROW,
    idle.ROW,
    spawn.ROW,
    stop.ROW,
    growth.ROW,
    timers_create.ROW,
    timers_fire.ROW,
    timers_lateness.ROW,
    timers_memory.ROW,
    wake_idle.ROW,
    wake_busy.ROW,
    beside.SLEEP,
    beside.COMPUTE,
)

FEATURES: tuple[Row, ...] = (*features.ROWS, *lives.ROWS)

GROUPS: dict[str, tuple[Row, ...]] = {
    "runtime": (*FIGURES, *FEATURES),
    "figures": FIGURES,
    "features": FEATURES,
    "relay": (store_limit.ROW, line.ROW, *through_worker.ROWS, *many_sessions.ROWS),
    "worker": (store_limit.ROW, *through_worker.ROWS),
    "acp": agent_turns.ROWS,
    "idle": idle_processes.ROWS,
    "smoke": (tell_one.ROW, line.ROW),
}


def every_row() -> tuple[Row, ...]:
    """Give all rows, each once."""
    return tuple({row.name: row for rows in GROUPS.values() for row in rows}.values())


def by_name(name: str) -> Row:
    """Give a row by its name; raises ``KeyError`` with the names that there are."""
    for row in every_row():
        if row.name == name:
            return row
    known = ", ".join([*GROUPS, *(row.name for row in every_row())])
    raise KeyError(f"there is no row or group {name!r}; there are {known}")


def chosen(names: tuple[str, ...]) -> tuple[Row, ...]:
    """Give the rows for names of rows and groups, each once, in the order asked for; raises ``KeyError``."""
    rows = [row for name in names for row in GROUPS.get(name) or (by_name(name),)]
    return tuple({row.name: row for row in rows}.values())
