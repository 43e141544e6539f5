"""The inbox: what people are asked, and their answers; for the owner alone."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from showcaller.actors.contract.arguments import Choices, Line64, Line1000, Prompt, Switch, whole_number
from showcaller.actors.contract.calls.base import CallResult
from showcaller.actors.contract.limits import INBOX_ITEMS
from showcaller.actors.contract.outside import OutsideRequest
from showcaller.actors.contract.views import Moment, ResultModel

ItemKind = Literal["approval", "permission", "ask_user", "ask"]


class Inbox(OutsideRequest):
    """List what waits for an answer, newest first."""

    name: ClassVar[str] = "inbox"

    limit: Annotated[int, Field(ge=1, le=INBOX_ITEMS), BeforeValidator(whole_number)] = Field(
        default=100, description="How many to list at most."
    )
    cursor: Line1000 | None = Field(default=None, description="nextCursor of the page before.")


class InboxOption(ResultModel):
    """A choice; ``id`` names it where two labels are the same, ``kind`` says what the agent means by it."""

    id: str
    label: str
    kind: str


class InboxItem(ResultModel):
    """Something that waits for an answer in a session with this ``title``.

    ``detail`` is what is said beside the question, such as a whole command; ``form`` is the JSON schema of a
    form; ``expires_at`` is when it ends unanswered.
    """

    id: str
    kind: ItemKind
    session: str
    title: str
    message_id: str | None = None
    question: str
    detail: str | None = None
    options: tuple[InboxOption, ...] = ()
    multi_select: bool = False
    allow_freeform: bool = False
    form: dict[str, Any] | None = None
    asked_at: Moment
    expires_at: Moment | None = None


class InboxResult(CallResult):
    """The answer to ``inbox``; ``next_cursor`` when there is more."""

    items: tuple[InboxItem, ...]
    next_cursor: str | None = None


class Answer(OutsideRequest):
    """Answer a card, or dismiss it: choices, a text or both, or ``dismiss``."""

    name: ClassVar[str] = "answer"
    nothing: ClassVar[str] = "Nothing was answered."

    action: Literal["answer"] = "answer"
    question_id: Line64 = Field(description="The card's id.")
    choices: Choices | None = Field(
        default=None, description="Labels of the options chosen, in any case, or their ids."
    )
    answer: Prompt | None = Field(default=None, description="The answer in free text.")
    dismiss: Switch = Field(default=False, description="There will be no answer.")

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        answers = self.choices is not None or self.answer is not None
        if self.dismiss and answers:
            raise ValueError("takes an answer or dismiss, not both")
        if not self.dismiss and not answers:
            raise ValueError("needs choices, answer or dismiss")
        return self


class AnswerResult(CallResult):
    """The answer to ``answer``: how the card has ended, with the labels of the options that were ``chosen``.

    ``session`` is where it was asked.
    """

    question_id: str
    session: str
    status: Literal["answered", "dismissed"]
    chosen: tuple[str, ...] | None = None
