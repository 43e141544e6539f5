"""The pool: it grows on demand, keeps its bound, lets idle threads end and given-up jobs go."""

import threading
from collections.abc import Callable

import pytest

from showcaller.transport.worker.threads import Threads

LIMIT = 10.0


def blocked(release: threading.Event, started: threading.Semaphore) -> Callable[[], None]:
    def job() -> None:
        started.release()
        release.wait(LIMIT)

    return job


def test_it_grows_to_its_bound_and_the_rest_waits_its_turn() -> None:
    pool, release, started = Threads(limit=3), threading.Event(), threading.Semaphore(0)
    for _ in range(5):
        pool.submit(blocked(release, started))
    for _ in range(3):
        assert started.acquire(timeout=LIMIT)
    assert not started.acquire(blocking=False)
    assert len(pool._members) == 3
    release.set()
    for _ in range(2):
        assert started.acquire(timeout=LIMIT)
    pool.close()


class Watched(Threads):
    """A pool that says when a thread has become idle."""

    def __init__(self) -> None:
        super().__init__()
        self.became_idle = threading.Semaphore(0)

    def _woken(self) -> bool:
        self.became_idle.release()  # with the pool's lock held until the thread waits
        return super()._woken()


def test_one_job_after_the_other_needs_one_thread() -> None:
    pool, threads = Watched(), set[threading.Thread]()
    for _ in range(50):
        pool.submit(lambda: threads.add(threading.current_thread()))
        assert pool.became_idle.acquire(timeout=LIMIT)
    assert len(threads) == 1
    pool.close()


def test_idle_threads_end_by_themselves() -> None:
    pool, done = Threads(idle_seconds=0.01), threading.Event()
    pool.submit(done.set)
    assert done.wait(LIMIT)
    for thread in list(pool._members):
        thread.join(LIMIT)
    assert pool._members == {}
    again = threading.Event()
    pool.submit(again.set)
    assert again.wait(LIMIT)
    pool.close()


def test_a_given_up_job_makes_room_and_is_not_waited_for() -> None:
    pool, release, started = Threads(limit=1), threading.Event(), threading.Semaphore(0)
    stuck, done = blocked(release, started), threading.Event()
    pool.submit(stuck)
    assert started.acquire(timeout=LIMIT)
    [left] = pool._members
    pool.submit(done.set)
    pool.give_up(stuck)
    assert done.wait(LIMIT)
    pool.close()
    assert left.is_alive()
    release.set()
    left.join(LIMIT)
    assert not left.is_alive()


def test_a_given_up_job_that_waits_never_runs() -> None:
    pool, release, started = Threads(limit=1), threading.Event(), threading.Semaphore(0)
    ran = threading.Event()
    waiting: Callable[[], None] = ran.set
    pool.submit(blocked(release, started))
    assert started.acquire(timeout=LIMIT)
    pool.submit(waiting)
    pool.give_up(waiting)
    release.set()
    pool.close()
    assert not ran.is_set()


def test_a_closed_pool_takes_no_job() -> None:
    pool = Threads()
    pool.close()
    with pytest.raises(RuntimeError, match="closed"):
        pool.submit(lambda: None)


def test_without_a_single_thread_the_job_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    pool = Threads()
    with pytest.raises(RuntimeError, match="can't start"):
        pool.submit(lambda: None)
    assert not pool._jobs
