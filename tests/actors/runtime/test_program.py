"""Programs: what happens to actors and their mail when a process ends, and when a dispatcher is closed."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from showcaller.actors.runtime import Actor, ActorDeadError, Dispatcher, DispatcherClosed, Future, Terminated
from showcaller.actors.runtime.testkit import Probe
from tests.actors.runtime.test_blocking import until

ROOT = Path(__file__).parents[3]
HEAD = """
import sys, threading
from showcaller.actors.runtime import Actor, Dispatcher, Future, Supervisor, ChildSpec

class Writer(Actor):
    def on_receive(self, message):
        sys.stdout.write(f"{message}\\n")
        sys.stdout.flush()
"""


def run(text: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    return subprocess.run(
        [sys.executable, "-c", HEAD + text], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


class TestEndOfProgram:
    def test_mail_that_waits_is_handled_first(self) -> None:
        done = run("ref = Writer.start()\nfor number in range(1_000): ref.tell(number)\n")
        assert done.stdout.split() == [str(number) for number in range(1_000)]
        assert (done.returncode, done.stderr) == (0, "")

    def test_idle_actors_do_not_hold_it(self) -> None:
        done = run("Writer.start().ask('once')\nSupervisor.start([ChildSpec('writer', Writer)])\n")
        assert (done.returncode, done.stdout, done.stderr) == (0, "once\n", "")

    def test_a_handler_that_waits_for_its_reply_is_finished(self) -> None:
        done = run(
            "class Waiter(Writer):\n"
            "    async def on_receive(self, message):\n"
            "        later = Future()\n"
            "        timer = threading.Timer(0.05, later.set, ['later'])\n"
            "        timer.daemon = True\n"
            "        timer.start()\n"
            "        super().on_receive(await later)\n"
            "Waiter.start().tell('wait')\n"
        )
        assert (done.returncode, done.stdout) == (0, "later\n")

    def test_a_reentrant_handler_that_waits_is_finished_as_well(self) -> None:
        done = run(
            "class Waiter(Writer):\n"
            "    reentrant = True\n"
            "    async def on_receive(self, message):\n"
            "        later = Future()\n"
            "        timer = threading.Timer(0.05, later.set, ['later'])\n"
            "        timer.daemon = True\n"
            "        timer.start()\n"
            "        super().on_receive(await later)\n"
            "Waiter.start().tell('wait')\n"
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "later\n", "")

    @pytest.mark.parametrize("close", ["", "own.close()\n"], ids=["open", "closed"])
    def test_mail_on_a_dispatcher_of_ones_own_is_handled_first(self, close: str) -> None:
        done = run(
            "with Dispatcher(name='own') as own: ref = Writer.start()\n"
            "for number in range(1_000): ref.tell(number)\n" + close
        )
        assert done.stdout.split() == [str(number) for number in range(1_000)]
        assert (done.returncode, done.stderr) == (0, "")

    def test_dispatchers_that_tell_each_other_are_all_waited_for(self) -> None:
        done = run(
            "class Passing(Writer):\n"
            "    def on_receive(self, message):\n"
            "        number, to, back = message\n"
            "        super().on_receive(number)\n"
            "        if number < 200: to.tell((number + 1, back, to))\n"
            "with Dispatcher(): one = Passing.start()\n"
            "with Dispatcher(): two = Passing.start()\n"
            "one.tell((1, two, one))\n"
        )
        assert done.stdout.split() == [str(number) for number in range(1, 201)]
        assert (done.returncode, done.stderr) == (0, "")

    def test_actors_may_be_first_started_when_the_main_module_has_ended(self) -> None:
        done = run(
            "def work():\n"
            "    threading.main_thread().join()\n"
            "    ref = Writer.start()\n"
            "    for number in range(100): ref.tell(number)\n"
            "threading.Thread(target=work).start()\n"
        )
        assert done.stdout.split() == [str(number) for number in range(100)]
        assert (done.returncode, done.stderr) == (0, "")

    def test_actors_may_be_first_started_by_a_function_of_atexit(self) -> None:
        done = run("import atexit\natexit.register(lambda: Writer.start().ask('last', timeout=20))\n")
        assert (done.returncode, done.stdout, done.stderr) == (0, "last\n", "")

    def test_pinned_actors_are_waited_for(self) -> None:
        done = run(
            "class Pinned(Writer):\n    pinned = True\n"
            "ref = Pinned.start()\nfor number in range(100): ref.tell(number)\n"
        )
        assert done.stdout.split() == [str(number) for number in range(100)]

    def test_daemon_actors_are_not(self) -> None:
        done = run(
            "class Endless(Writer):\n"
            "    use_daemon_thread = True\n"
            "    def on_receive(self, message):\n"
            "        self.actor_ref.tell(message)\n"
            "Endless.start().tell('again')\n"
        )
        assert (done.returncode, done.stderr) == (0, "")

    @pytest.mark.parametrize(
        "busy",
        [
            # A moment again and again: Python keeps a signal that comes just before it sleeps until it wakes.
            "ref = Writer.start()\nWriter.on_receive(None, 'ready')\n"
            "while True: threading.Event().wait(0.2)\n",
            "class Endless(Writer):\n"
            "    def on_start(self): super().on_receive('ready')\n"
            "    def on_receive(self, message): self.actor_ref.tell(message)\n"
            "Endless.start().tell('again')\n",
            "class Never(Writer):\n"
            "    async def on_receive(self, message):\n"
            "        super().on_receive('ready')\n"
            "        await Future()\n"
            "Never.start().tell('wait')\n",
        ],
        ids=["waiting in main", "endless mail", "a reply that never comes"],
    )
    def test_ctrl_c_ends_one_that_forgot_to_stop_its_actors(self, busy: str) -> None:
        with subprocess.Popen(
            [sys.executable, "-c", HEAD + busy],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as program:
            assert program.stdout is not None
            assert program.stdout.readline() == "ready\n"
            program.send_signal(signal.SIGINT)
            try:
                _, errors = program.communicate(timeout=20)
            finally:
                program.kill()
        assert program.returncode in (0, -signal.SIGINT, 128 + signal.SIGINT), errors
        assert "Fatal" not in errors

    def test_a_forked_child_has_a_dispatcher_of_its_own(self) -> None:
        done = run(
            "import os\n"
            "Writer.start().ask('parent')\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    Writer.start().ask('child', timeout=20)\n"
            "    sys.exit(3)\n"
            "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3\n"
        )
        assert (done.stdout, done.returncode) == ("parent\nchild\n", 0)

    def test_a_child_forked_in_a_with_or_a_handler_starts_actors_of_its_own(self) -> None:
        done = run(
            "import os\n"
            "from showcaller.actors.runtime import Actor, ActorDeadError, Dispatcher, DispatcherClosed\n"
            "class Calls(Actor):\n"
            "    def on_receive(self, message):\n"
            "        return message() if callable(message) else message\n"
            "class Unlisted(Calls):\n"
            "    registered = False\n"
            "class Pinned(Calls):\n"
            "    pinned = True\n"
            "def fork(refs, dispatcher):\n"
            "    child = os.fork()\n"
            "    if child == 0:\n"
            "        try:\n"
            "            os._exit(in_child(refs, dispatcher))\n"
            "        finally:\n"
            "            os._exit(5)\n"
            "    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])\n"
            "def in_child(refs, dispatcher):\n"
            "    assert [kind.start().ask(1, timeout=20) for kind in (Unlisted, Pinned)] == [1, 1]\n"
            "    for ref in refs:\n"
            "        try:\n"
            "            ref.ask(1, timeout=20)\n"
            "            return 4\n"
            "        except ActorDeadError:\n"
            "            assert not ref.is_alive()\n"
            "    try:\n"
            "        with dispatcher:\n"
            "            Unlisted.start()\n"
            "    except DispatcherClosed as closed:\n"
            "        assert 'fork' in str(closed)\n"
            "        return 3\n"
            "with Dispatcher() as dispatcher:\n"
            "    refs = [kind.start() for kind in (Calls, Unlisted, Pinned, Calls)]\n"
            "    for ref in refs:\n"
            "        ref.ask(1)\n"
            "    over, held = threading.Event(), threading.Event()\n"
            "    refs[3].tell(lambda: (held.set(), over.wait()))\n"
            "    held.wait()\n"
            "    print(fork(refs, dispatcher))\n"
            "    over.set()\n"
            "    print(refs[0].ask(lambda: Calls.start().ask(lambda: fork(refs, dispatcher))))\n"
            "    print(refs[0].ask('parent'))\n"
        )
        assert (done.stdout, done.returncode) == ("3\n3\nparent\n", 0)

    @pytest.mark.parametrize(
        "lock",
        [
            "showcaller.actors.runtime.extras.extras_lock",
            "showcaller.actors.runtime.long_waits.lock",
            "pykka.ActorRegistry._actor_refs_lock",
        ],
    )
    def test_a_fork_waits_until_no_thread_holds_a_lock_of_the_process(self, lock: str) -> None:
        done = run(
            "import os, pykka, showcaller.actors.runtime\n"
            "held, forking = threading.Event(), threading.Event()\n"
            "def hold():\n"
            f"    with {lock}:\n"
            "        held.set()\n"
            "        forking.wait()\n"
            "threading.Thread(target=hold).start()\n"
            "held.wait()\n"
            "os.register_at_fork(before=forking.set)\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            f"    free = {lock}.acquire(timeout=0)\n"
            "    os._exit(3 if free else 4)\n"
            "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3\n"
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_waiting_for_quiet_costs_little_while_many_have_mail(threads: Dispatcher) -> None:
    refs = [Probe.start() for _ in range(20_000)]
    for ref in refs:
        ref.stop(block=False)
    before = time.monotonic()
    assert threads.wait_quiet(60)
    assert time.monotonic() - before < 20, "it would take minutes if each slice looked at all"
    assert not any(ref.is_alive() for ref in refs)


class TestClosing:
    def test_what_is_ready_is_done_and_the_threads_end(self) -> None:
        done: Future[int] = Future()

        class Counting(Actor):
            registered = False
            count = 0

            def on_receive(self, message: int) -> None:
                self.count += 1
                if self.count == 1_000:
                    done.set(self.count)

        with Dispatcher(name="closing") as dispatcher:
            ref = Counting.start()
            for number in range(1_000):
                ref.tell(number)
            dispatcher.close()
        assert done.get(timeout=10) == 1_000
        assert until(lambda: not dispatcher._threads)

    def test_an_ask_after_the_end_is_answered(self) -> None:
        with Dispatcher(name="closed") as dispatcher:
            ref = Probe.start()
            ref.ask("x", timeout=10)
            dispatcher.close()
            assert until(lambda: not dispatcher._threads)
            with pytest.raises(ActorDeadError):
                ref.ask("too late", timeout=10)
            assert not ref.is_alive()
            with pytest.raises(DispatcherClosed):
                Probe.start()

    def test_waiting_handlers_end_and_their_askers_are_answered(self) -> None:
        class Never(Actor):
            registered = False

            async def on_receive(self, message: Any) -> None:
                await Future[None]()

        with Dispatcher(name="closing") as dispatcher:
            ref = Never.start()
            answer = ref.ask("wait", block=False)
            assert until(lambda: ref in dispatcher.suspended)
            dispatcher.close()
        with pytest.raises(ActorDeadError):
            answer.get(timeout=10)
        assert not ref.is_alive()

    def test_asks_that_race_with_closing_are_all_answered(self) -> None:
        for _ in range(30):
            dispatcher = Dispatcher(name="raced")
            with dispatcher:
                ref = Probe.start()
            ref.ask("x", timeout=10)
            answers: list[Future[Any]] = []
            asking = threading.Thread(
                target=lambda ref=ref, answers=answers: answers.extend(
                    ref.ask(number, block=False) for number in range(50)
                )
            )
            asking.start()
            dispatcher.close()
            asking.join(10)
            assert len(answers) == 50
            for answer in answers:
                try:
                    answer.get(timeout=10)
                except ActorDeadError:
                    continue

    def test_closing_twice_is_closing_once(self) -> None:
        dispatcher = Dispatcher(name="twice")
        dispatcher.close()
        dispatcher.close()
        assert dispatcher.wait_quiet(1)

    def test_an_idle_dispatcher_has_no_thread_and_no_watchdog(self) -> None:
        before = threading.active_count()
        dispatcher = Dispatcher(name="idle")
        assert threading.active_count() == before
        dispatcher.close()
        assert threading.active_count() == before


def test_an_idle_dispatcher_sleeps_without_polling(threads: Dispatcher) -> None:
    ref = Probe.start()
    ref.ask("x", timeout=10)
    assert threads.wait_quiet(10)
    assert until(lambda: threads._parked is not None and not threads._watchdog.armed)
    before = os.times()
    switches = _switches()
    threading.Event().wait(0.3)
    after = os.times()
    assert after.user + after.system - before.user - before.system <= 0.05
    assert _switches() - switches <= 20


def _switches() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw


def test_terminated_says_who(threads: Dispatcher) -> None:
    got: Future[Any] = Future()

    class Watching(Actor):
        registered = False

        def on_receive(self, message: Any) -> None:
            got.set(message)

    watcher, ref = Watching.start(), Probe.start()
    ref.add_watcher(watcher)
    ref.stop()
    terminated = got.get(timeout=10)
    assert isinstance(terminated, Terminated)
    assert terminated.ref is ref
