"""Threads for functions: as many as are needed at once up to a bound, ended when idle."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Final

THREAD_LIMIT: Final = 256
IDLE_SECONDS: Final = 10.0

Job = Callable[[], None]


class Threads:
    """A pool of daemon threads that grows on demand up to ``limit``; thread-safe.

    A job must catch what it raises. A job that may never return can be given up: its thread no longer
    counts nor is waited for, and ends if the job should return after all.
    """

    def __init__(self, limit: int = THREAD_LIMIT, idle_seconds: float = IDLE_SECONDS) -> None:
        self._limit = limit
        self._idle_seconds = idle_seconds
        self._changed = threading.Condition()
        self._jobs: deque[Job] = deque()
        self._members: dict[threading.Thread, Job | None] = {}
        self._idle = 0
        self._closed = False

    def submit(self, job: Job) -> None:
        """Run the job as soon as a thread is free; RuntimeError after ``close`` or when none can start."""
        with self._changed:
            if self._closed:
                raise RuntimeError("the pool of threads is closed")
            self._jobs.append(job)
            if self._idle >= len(self._jobs):
                self._changed.notify()
            elif len(self._members) < self._limit:
                self._grow(job)

    def give_up(self, job: Job) -> None:
        """Forget a job that waits, or let go of the thread that runs it, so that another takes its place."""
        with self._changed:
            if job in self._jobs:
                self._jobs.remove(job)
                return
            thread = next((member for member, running in self._members.items() if running is job), None)
            if thread is not None:
                del self._members[thread]
                if self._jobs:
                    self._grow(self._jobs[-1])

    def close(self) -> None:
        """Take no more jobs and wait for every thread that was not given up to finish what it runs."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            members = list(self._members)
        for thread in members:
            thread.join()

    def _grow(self, job: Job) -> None:
        thread = threading.Thread(target=self._work, name="showcaller-callable", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system has no more threads: those there are will come to the job
            if not self._members:
                self._jobs.remove(job)
                raise
        else:
            self._members[thread] = None

    def _work(self) -> None:
        me = threading.current_thread()
        while True:
            job = self._next(me)
            if job is None:
                return
            job()
            del job  # or an idle thread would keep alive what its last job held

    def _next(self, me: threading.Thread) -> Job | None:
        with self._changed:
            if me not in self._members:
                return None
            self._members[me] = None
            while not self._jobs:
                if self._closed or not self._woken():
                    del self._members[me]
                    return None
            job = self._jobs.popleft()
            self._members[me] = job
            return job

    def _woken(self) -> bool:
        """Wait for a job or for the pool's close; gives False when neither came in the idle time."""
        self._idle += 1
        woken = self._changed.wait(self._idle_seconds)
        self._idle -= 1
        return woken or bool(self._jobs)
