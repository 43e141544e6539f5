from typing import Any

import pytest

from showcaller.actors.contract.calls import AnswerQuestion, Ask, ListQuestions, Withdraw
from showcaller.actors.contract.calls.questions import (
    AnswerQuestionResult,
    AskResult,
    ListQuestionsResult,
    QuestionRow,
    WithdrawResult,
)
from showcaller.actors.contract.views import SessionTitle
from tests.actors.contract.examples import SESSION
from tests.actors.contract.shaping import call_of, refusal_of, shaped

QUESTION = "ask_000000000000"


class TestAnswerQuestion:
    @pytest.mark.parametrize(
        "given", [{"choices": ["Merge"]}, {"answer": " As you like.\n"}, {"choices": ["A"], "answer": "b"}]
    )
    def test_choices_or_a_text_or_both_answer(self, given: dict[str, Any]) -> None:
        taken = call_of(AnswerQuestion, **{"answer": None, **given})
        assert taken.answer == given.get("answer")
        assert taken.choices == (tuple(given["choices"]) if "choices" in given else None)

    def test_neither_is_refused(self) -> None:
        assert refusal_of("answer_question", answer="", choices=[]) == (
            "answer_question: needs at least one of choices, answer. Nothing was answered."
        )

    def test_choices_are_trimmed_and_taken_once_each(self) -> None:
        assert call_of(AnswerQuestion, choices=[" Merge ", "Merge", ""]).choices == ("Merge",)
        assert "must be an array" in refusal_of("answer_question", choices="Merge")

    def test_the_result_says_that_it_was_answered(self) -> None:
        result = AnswerQuestionResult(relay="desk", summary="x", question_id="q_000000000000").to_result()
        assert result["question_id"] == "q_000000000000"
        assert result["status"] == "answered"


class TestAsk:
    def test_texts_for_people_stay_as_sent_and_others_are_trimmed(self) -> None:
        taken = call_of(
            Ask,
            question=" Ship?\n",
            detail=" because\n of ",
            recommendation=" Wait,\nrather. ",
            options=[" Tonight ", "Wait"],
        )
        assert taken.question == " Ship?\n"
        assert taken.detail == " because\n of "
        assert taken.recommendation == "Wait,\nrather."
        assert taken.options == ("Tonight", "Wait")

    @pytest.mark.parametrize(
        ("given", "why"),
        [
            ({"question": ""}, "needs question"),
            ({"question": "a" * 2001}, "question has 2001 characters; 2000 are the most"),
            ({"options": [str(number) for number in range(11)]}, "options has 11 entries; 10 are the most"),
            ({"options": ["a" * 201]}, "options has 201 characters; 200 are the most"),
            ({"options": ["Yes", "yes"]}, 'options has "yes" twice'),
            ({"options": ["two\nlines"]}, "must be one line"),
            ({"options": "Yes"}, "options must be an array"),
            ({"recommendation": "a" * 501}, "recommendation has 501 characters; 500 are the most"),
            ({"detail": "a" * 10_001}, "detail has 10001 characters; 10000 are the most"),
        ],
    )
    def test_too_much_is_refused_and_never_cut(self, given: dict[str, Any], why: str) -> None:
        assert why in refusal_of("ask", **given)

    def test_the_longest_are_taken(self) -> None:
        taken = call_of(
            Ask,
            question="a" * 2000,
            detail="b" * 10_000,
            recommendation="c" * 500,
            options=[f"{number:0200}" for number in range(10)],
        )
        assert taken.options is not None
        assert len(taken.options) == 10

    def test_on_behalf_of_another_session_it_is_a_write_that_needs_the_prompt_level(self) -> None:
        own, other = shaped("ask"), shaped("ask", session=SESSION)
        assert (own.action.is_write(own.call), own.action.level_of(own.call)) == (False, "none")
        assert (other.action.is_write(other.call), other.action.level_of(other.call)) == (True, "prompt")
        assert not other.action.is_prompt(other.call)

    def test_the_result_is_pending(self) -> None:
        result = AskResult(relay="desk", summary="x", question_id=QUESTION).to_result()
        assert result["question_id"] == QUESTION
        assert result["status"] == "pending"


def test_questions_are_listed_with_their_answers() -> None:
    assert call_of(ListQuestions).session is None
    assert call_of(ListQuestions, session="3f9c2a").session == "ses_3f9c2a"
    result = ListQuestionsResult(
        relay="desk",
        summary="list_questions: 1",
        questions=(
            QuestionRow(
                id=QUESTION,
                status="answered",
                question="Now?",
                options=("Yes",),
                session=SessionTitle(id=SESSION, title="Review"),
                asked_at=0,
                ended_at=0,
                choice="Yes",
                via="desk",
            ),
        ),
    ).to_result()
    assert result["questions"][0]["choice"] == "Yes"
    assert result["questions"][0]["via"] == "desk"
    assert "answer" not in result["questions"][0]


def test_a_question_is_withdrawn_by_its_id() -> None:
    assert call_of(Withdraw).question_id == QUESTION
    assert refusal_of("withdraw", question_id=None) == "withdraw: needs question_id."
    result = WithdrawResult(relay="desk", summary="x", question_id=QUESTION).to_result()
    assert result["status"] == "withdrawn"
