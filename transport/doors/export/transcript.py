"""Writing a conversation out, page by page from the store: the agent is not woken."""

from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import Any, Final

from showcaller.actors.contract.errors import Code, Refusal, invalid, refusal_in
from showcaller.actors.relay.answers import read
from showcaller.actors.relay.ports import ReaderPort
from showcaller.actors.relay.refusals import refusal_for
from showcaller.actors.relay.transcripts import message_entry, task_entry
from showcaller.actors.runtime import Future
from showcaller.transport.doors.export.form import Form, FormName
from showcaller.transport.doors.export.html_page import HtmlPage
from showcaller.transport.doors.export.json_lines import JsonLines
from showcaller.transport.doors.export.markdown import Markdown

PAGE: Final = 16
"""Messages that are read at once; one may have a mebibyte."""
FORMS: Final[dict[FormName, Callable[[], Form]]] = {"md": Markdown, "html": HtmlPage, "jsonl": JsonLines}
NOT_RUN_HERE: Final = "external"
"""The provider of conversations that were not run by a relay."""

Read = Callable[[dict[str, Any]], Future[Any]]
"""Begins a call of the tool, and gives the future of its result."""
Steps = Generator[str | Future[Any], Any, None]
"""Gives pieces of the text, and futures whose values it wants sent back."""


def form_of(name: str) -> Form:
    """Give the form of a name; raises ``Refusal`` that lists the names there are."""
    for known, form in FORMS.items():
        if name == known:
            return form()
    raise invalid(f"There is no format {name[:40]!a}; there are {', '.join(FORMS)}.", formats=list(FORMS))


def steps(call: Read, reader: ReaderPort, session: str, form: Form, *, goes_on: bool) -> Steps:
    """Say step by step how a conversation is written; raises ``Refusal``.

    Without ``goes_on`` no relay runs that would do what is under way: that was cut then.
    """
    told = yield call({"action": "read_session", "relay": "this", "session": session, "last": 1})
    if not told["ok"]:
        raise refusal_in(told)
    head = told["session"]
    if head["provider"] == NOT_RUN_HERE:
        raise Refusal(
            Code.FORBIDDEN,
            "This is the conversation of a client that the relay did not start: what was said in it is with "
            "that client, and is not exported.",
        )
    yield form.begin(head)
    after = 0
    while rows := (yield read(reader, "transcript", session=head["id"], after=after, limit=PAGE)):
        for row in rows:
            yield form.message(message_entry(row, goes_on=goes_on).model_dump(mode="json", by_alias=True))
        after = rows[-1]["position"]
    for row in (yield read(reader, "tasks", session=head["id"])):
        yield form.task(task_entry(row, goes_on=goes_on).model_dump(mode="json", by_alias=True))
    yield form.end()


def written(doing: Steps) -> Iterator[str]:
    """Take the steps, waiting in this thread, and give the pieces; raises ``Refusal``."""
    try:
        step = next(doing)
        while True:
            if isinstance(step, Future):
                step = doing.send(step.get())
            else:
                yield step
                step = next(doing)
    except StopIteration:
        return
    except Exception as error:
        raise refusal_for(error) from error


async def written_async(doing: Steps) -> AsyncIterator[str]:
    """Take the steps on the running asyncio loop, and give the pieces; raises ``Refusal``."""
    try:
        step = next(doing)
        while True:
            if isinstance(step, Future):
                step = doing.send(await step)
            else:
                yield step
                step = next(doing)
    except StopIteration:
        return
    except Exception as error:
        raise refusal_for(error) from error
