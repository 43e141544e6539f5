"""Whatever is asked of the HTTP door, right or wrong by its document, is answered as the document says."""

import os
import shlex
from collections.abc import Generator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.core.failures import FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.e2e.daemon import Daemon, serving
from tests.e2e.program import Showcaller

EXAMPLES = int(os.environ.get("API_EXAMPLES", "6"))
"""Requests of each kind for each path; a long run has some hundreds."""
LEFT_OUT = frozenset({"/api/stop"})
"""Ends the relay, also when it is asked rightly."""
CHECKS: Any = [
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Generator[Daemon]:
    folder: Path = tmp_path_factory.mktemp("documented")
    with serving(Showcaller(folder / "home", folder)) as daemon:
        yield daemon


def document_of(daemon: Daemon) -> dict[str, Any]:
    with daemon.owner as owner:
        document: dict[str, Any] = owner.get("/api/openapi.json").json()
    return document


DOCUMENTED = (
    "GET /api/fanouts",
    "GET /api/fanouts/{group}/results",
    "GET /api/openapi.json",
    "GET /api/providers",
    "GET /api/sessions/{session}/export",
    "GET /api/settings",
    "GET /api/settings/{name}",
    "GET /api/status",
    "GET /metrics",
    "POST /api/acts/{act}",
    "POST /api/backup",
    "POST /api/call",
    "POST /api/fanouts",
    "POST /api/fanouts/resume",
    "POST /api/fanouts/{group}/stop",
    "POST /api/stop",
    "PUT /api/settings/{name}",
)


def test_the_document_has_the_paths_of_the_door(daemon: Daemon) -> None:
    found = {
        f"{method.upper()} {path}"
        for path, methods in document_of(daemon)["paths"].items()
        for method in methods
    }
    assert set(DOCUMENTED) <= found


def without_waiting(seconds: Any) -> Any:
    """Give no seconds for what the door may take for some to wait, a text too; what is wrong stays so."""
    try:
        waits = float(seconds) > 0
    except (TypeError, ValueError, OverflowError):
        return seconds
    return type(seconds)(0) if waits else seconds


def harmless(path: str, body: Any, folder: Path) -> Any:
    """Give the same body where it is wrong, and one that runs and writes nothing where it would."""
    if not isinstance(body, dict):
        return body
    tame = dict(body)
    if path == "/api/call":
        if isinstance(tame.get("text"), str) and tame["text"].strip():
            tame["text"] = f": {shlex.quote(tame['text'].replace(chr(0), ''))[:90_000]}"
        if "wait_seconds" in tame:
            tame["wait_seconds"] = without_waiting(tame["wait_seconds"])
    if path == "/api/monitor":
        tame["timeout"] = without_waiting(tame.get("timeout", 0))
    spec = tame.get("spec")
    if isinstance(spec, Mapping) and spec.get("kind") == "command" and isinstance(spec.get("template"), str):
        tame["spec"] = {**spec, "template": "true {}"}
    file = tame.get("file")
    if path == "/api/backup" and isinstance(file, str) and file.startswith("/"):
        tame["file"] = str(folder / sha256(file.encode("utf-8", "replace")).hexdigest())
    return tame


@pytest.mark.parametrize(
    ("given", "asked"),
    [(600, 0), (0.5, 0.0), ("600", "0"), ("1e3", "0"), (-1, -1), ("soon", "soon"), (None, None), ([5], [5])],
)
def test_no_request_of_these_tests_waits(given: Any, asked: Any) -> None:
    for path, name in (("/api/monitor", "timeout"), ("/api/call", "wait_seconds")):
        assert harmless(path, {name: given}, Path())[name] == asked


def test_an_answer_that_the_document_does_not_have_is_found(daemon: Daemon) -> None:
    document = document_of(daemon)
    del document["paths"]["/api/settings"]["get"]["responses"]["200"]
    operation = schemathesis.openapi.from_dict(document)["/api/settings"]["GET"]
    headers = {"authorization": f"Bearer {daemon.token}"}
    case = operation.Case(path_parameters={}, headers={}, query={})
    answer = case.call(base_url=f"http://127.0.0.1:{daemon.port}", headers=headers, timeout=60)
    with pytest.raises(FailureGroup):
        case.validate_response(answer, checks=CHECKS)


@pytest.mark.slow
@pytest.mark.timeout(max(300, EXAMPLES * 30))
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["right", "wrong"])
@pytest.mark.filterwarnings("ignore")
def test_no_request_gets_a_fault_or_an_answer_that_the_document_does_not_have(
    daemon: Daemon, tmp_path: Path, mode: GenerationMode
) -> None:
    schema = schemathesis.openapi.from_dict(document_of(daemon))
    headers = {"authorization": f"Bearer {daemon.token}"}
    asked = 0
    for found in schema.get_all_operations():
        operation = cast("Any", found).ok()
        says = operation.definition.raw
        if operation.path in LEFT_OUT or says.get("x-streams"):
            continue
        if mode is GenerationMode.NEGATIVE and not (says["parameters"] or "requestBody" in says):
            continue  # there is nothing that could be wrong

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            suppress_health_check=[
                HealthCheck.too_slow,
                HealthCheck.filter_too_much,
                HealthCheck.data_too_large,
            ],
            phases=[hypothesis.Phase.generate],
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def hold(case: Any) -> None:
            nonlocal asked
            asked += 1
            case.body = harmless(case.path, case.body, tmp_path)
            answer = case.call(base_url=f"http://127.0.0.1:{daemon.port}", headers=headers, timeout=60)
            assert answer.status_code != 500, answer.text
            case.validate_response(answer, checks=CHECKS)

        hold()
    assert asked >= EXAMPLES
