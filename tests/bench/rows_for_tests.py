"""A comparison made up for tests: a rate with bars, and a size with a limit."""

from bench.comparison import Comparison, Figure
from bench.quantities import Unit
from bench.row import US, Row

RATE = Row("tell", "tell, 1 → 1", Unit.RATE, float, 1_000, 10, bars={"pykka": 8, "erlang": 0.2})
SIZE = Row("idle", "an idle actor", Unit.BYTES, float, 1_000, 10, limit=500)


def rate() -> Comparison:
    """We are ten times as fast as pykka, and reach a tenth of Erlang."""
    ours = Figure(US, 1_000, (1e6, 3e6, 2e6))
    pykka = Figure("pykka", 100, (0.1e6, 0.2e6, 0.3e6))
    erlang = Figure("erlang", 2_000, (20e6, 20e6, 20e6))
    return Comparison(RATE, [ours, pykka, erlang], {"xoscar": "xoscar: it <fell> over"})


def size() -> Comparison:
    """We are below the limit."""
    return Comparison(SIZE, [Figure(US, 1_000, (410.0,))])
