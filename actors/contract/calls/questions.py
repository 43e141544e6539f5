"""Questions: cards of other sessions to answer, and questions to the human that block nobody."""

from typing import ClassVar, Literal

from pydantic import Field

from showcaller.actors.contract.arguments import (
    Choices,
    Detail,
    Line64,
    Options,
    Prompt,
    Question,
    Recommendation,
    SessionName,
)
from showcaller.actors.contract.calls.base import CallResult, OwnRelayCall, RelayCall
from showcaller.actors.contract.views import Moment, ResultModel, SessionTitle

QuestionStatus = Literal["pending", "answered", "dismissed", "withdrawn"]


class AnswerQuestion(RelayCall):
    """Answer a question that another session waits on; needs choices, answer or both."""

    nothing: ClassVar[str] = "Nothing was answered."
    one_of: ClassVar[tuple[str, ...]] = ("choices", "answer")

    action: Literal["answer_question"] = "answer_question"
    question_id: Line64 = Field(description="The question's id.")
    choices: Choices | None = Field(default=None, description="Labels of the options chosen, in any case.")
    answer: Prompt | None = Field(default=None, description="The answer in free text.")


class AnswerQuestionResult(CallResult):
    """The answer to ``answer_question``."""

    question_id: str
    status: Literal["answered"] = "answered"


class Ask(OwnRelayCall):
    """Ask the human a question and go on without waiting for the answer."""

    nothing: ClassVar[str] = "Nothing was asked."

    action: Literal["ask"] = "ask"
    question: Question = Field(description="The question.")
    options: Options | None = Field(default=None, description="Answers to choose from.")
    recommendation: Recommendation | None = Field(
        default=None, description="The answer that the asker would choose, and why."
    )
    detail: Detail | None = Field(default=None, description="What the human should know to answer.")
    session: SessionName | None = Field(
        default=None, description="The session on whose behalf to ask; else this conversation."
    )


class AskResult(CallResult):
    """The answer to ``ask``: go on with what does not depend on the answer, and do not ask again."""

    question_id: str
    status: Literal["pending"] = "pending"


class ListQuestions(OwnRelayCall):
    """List questions that block nobody: pending, and ended in the last day."""

    action: Literal["list_questions"] = "list_questions"
    session: SessionName | None = Field(
        default=None, description="The session whose questions to list; else this conversation's."
    )


class QuestionRow(ResultModel):
    """A question that blocks nobody; ``via`` is the relay on which it was answered."""

    id: str
    status: QuestionStatus
    question: str
    options: tuple[str, ...] = ()
    recommendation: str | None = None
    session: SessionTitle
    asked_at: Moment
    ended_at: Moment | None = None
    answer: str | None = None
    choice: str | None = None
    via: str | None = None


class ListQuestionsResult(CallResult):
    """The answer to ``list_questions``."""

    questions: tuple[QuestionRow, ...]


class Withdraw(OwnRelayCall):
    """Withdraw a question that this conversation asked and nobody has answered."""

    action: Literal["withdraw"] = "withdraw"
    question_id: Line64 = Field(description="The question's id.")


class WithdrawResult(CallResult):
    """The answer to ``withdraw``."""

    question_id: str
    status: Literal["withdrawn"] = "withdrawn"
