import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.fanout import note_for, parse_template, render
from showcaller.actors.contract.fanout.template import Kind

# Characters that mean something to a shell come often, the rest of Unicode now and then.
SHELL_CHARACTERS = st.sampled_from(list("'\"`$\\(){}[]<>|&;#*?~! \n\t-=%@ab"))
ITEMS = st.text(SHELL_CHARACTERS | st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
HOSTILE = [
    "'",
    "a'b",
    "$(id)",
    "`id`",
    "\n",
    "a\nid\n",
    "\\",
    "\\'",
    "'; id; '",
    '"; id; "',
    "-rf",
    "",
    " ",
    "$'\\''",
]


def run(line: str, *shell: str) -> list[str]:
    ended = subprocess.run([*shell, "-c", line], capture_output=True, check=True, timeout=30)
    return ended.stdout.decode().split("\0")[:-1]


def lines_for(items: Sequence[str], template: str) -> str:
    parsed = parse_template(template, "command")
    return "\n".join(render(parsed, item, number) for number, item in enumerate(items, start=1))


@given(st.lists(ITEMS, min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_a_command_gets_exactly_the_item_whatever_it_holds(items: list[str]) -> None:
    assert run(lines_for(items, r"printf '%s\000' {}"), "/bin/sh") == items


# Where {} may stand: whatever surrounds it, the item is one word and nothing of it runs.
PLACES = [
    r"printf '%s\000' {}",
    r'printf "%s\000" {}',
    r'x={}; printf "%s\000" "$x"',
    r'x={}; y="a ${x-b}"; printf "%s\000" "${y#a }"',
    r"printf '%s\000' $(printf '%s' ''){} # it's a comment",
    r"(printf '%s\000' {}) && true; # { } }",
    "if true; then printf '%s\\000' \\\n {}; fi",
    r"case {} in *) printf '%s\000' {};; esac",
    r"""echo "$(echo ')')" >/dev/null; printf '%s\000' {}""",
    r"""y="`echo \`echo a\``"; printf '%s\000' {}""",
    r"printf '%s\000' ''{}\'\' | sed s/..\\x00/\\x00/g",
]


@pytest.mark.parametrize("template", PLACES)
@pytest.mark.parametrize("shell", ["/bin/sh", "bash"])
def test_an_item_outside_of_quotes_is_one_word_in_every_place(template: str, shell: str) -> None:
    assert run(lines_for(HOSTILE, template), shell) == HOSTILE


REFUSED = {
    "echo '{}'": "single quotes",
    'echo "{}"': "double quotes",
    "echo $'{}'": "single quotes",
    r"echo $'\'{}'": "$'…' quotes",
    "echo `cat {}`": "backticks",
    'echo "`cat {}`"': "double quotes",
    'echo "$(cat {})"': "double quotes",
    'echo "$(cat "{}")"': "double quotes",
    "echo \"$(echo ')' {})\"": "double quotes",
    "echo ${}": "${…}",
    "echo ${x:-{}}": "${…}",
    'echo "${x:-{}}"': "double quotes",
    "echo a # {}": "a comment",
    "echo a;# it's {}": "a comment",
    "cat <<END\n{}\nEND": "a here-document (or after its <<)",
    "cat <<END\nit's\nEND\nwc '{}'": "a here-document (or after its <<)",
    "echo $(( {} ))": "an arithmetic expression (or after one)",
    "echo $[ {} ]": "an arithmetic expression (or after one)",
    "(( x = {} ))": "an arithmetic expression (or after one)",
    'echo "${x:-\'a"}" {}': "quotes in ${…} in double quotes (or after them)",
    'echo "$(case a in a) echo "{}";; esac)"': 'a case in "$(…)" (or after it)',
    "echo $\\\n'{}'": "an operator that a backslash splits over two lines (or after it)",
    "awk '{print $1}{}' a": "single quotes",
    "sh -c 'wc -l {}'": "single quotes",
    "echo 'open {}": "single quotes",
}


@pytest.mark.parametrize(("template", "where"), REFUSED.items())
def test_an_item_inside_quotes_is_refused_with_how_to_write_it(template: str, where: str) -> None:
    with pytest.raises(Refusal) as refused:
        parse_template(template, "command")
    assert refused.value.code is Code.INVALID_INPUT
    assert f"inside {where}," in refused.value.error
    assert "wc -l {}" in refused.value.error
    assert "item={}" in refused.value.error


# Each of these writes a file named hit wherever its own quoting does not hold.
BREAKING = [
    "$(>hit)",
    "`>hit`",
    "'$(>hit)'",
    "';>hit;'",
    '";>hit;"',
    "\n>hit\n",
    "'\n>hit\n",
    ";>hit;#",
    "\\';>hit;'",
]


@given(st.text(st.sampled_from(list("'\"`$\\(){}# <\n-a;|&[:=")), max_size=24), st.sampled_from(BREAKING))
@settings(max_examples=300, deadline=None)
def test_whatever_a_template_looks_like_no_item_in_it_runs(around: str, item: str) -> None:
    middle = len(around) // 2
    try:
        template = parse_template(around[:middle] + "{}" + around[middle:], "command")
    except Refusal:
        return
    with tempfile.TemporaryDirectory() as folder:
        for shell in ("/bin/sh", "/bin/bash"):
            # Without a PATH only what is built into the shell can run.
            subprocess.run(
                [shell, "-c", "--", render(template, item, 1)],
                cwd=folder,
                env={"PATH": ""},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=30,
            )
        assert not Path(folder, "hit").exists()


def test_the_number_and_the_raw_item_may_stand_inside_quotes() -> None:
    template = parse_template("echo '{n}' \"{raw}\" {}", "command")
    assert render(template, "a b", 7) == "echo '7' \"a b\" 'a b'"


def test_braces_of_the_shell_stay_as_they_are() -> None:
    template = parse_template(r"n=1; echo ${n} ${raw} {a,b} {{ }} \{} \{n} ${x} { } {n}", "command")
    assert render(template, "i", 3) == r"n=1; echo ${n} ${raw} {a,b} {{ }} \{} \{n} ${x} { } 3"


@pytest.mark.parametrize("kind", ["prompt", "callable"])
def test_nothing_is_quoted_in_a_prompt_or_for_a_callable(kind: str) -> None:
    template = parse_template("Read '{}' (${n}): \"{raw}\"", "prompt" if kind == "prompt" else "callable")
    assert render(template, "it's", 2) == "Read 'it's' ($2): \"it's\""


@pytest.mark.parametrize("kind", ["command", "prompt"])
def test_a_template_without_an_item_is_refused_with_the_way_out(kind: str) -> None:
    with pytest.raises(Refusal, match=r"none of \{\}, \{raw\} and \{n\}.*write \{\} where"):
        parse_template("wc -l $file", "command" if kind == "command" else "prompt")


def test_a_callable_needs_no_item_in_its_template() -> None:
    assert render(parse_template("my.module:Work.run", "callable"), "a", 1) == "my.module:Work.run"
    with pytest.raises(Refusal, match=r"not of the form module:function"):
        parse_template("my.module", "callable")


@pytest.mark.parametrize("text", ["", " \n", "a\0{}", "\udcff {}", "{}" * 60_000])
def test_a_template_that_no_shell_can_take_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match=r"^The template"):
        parse_template(text, "command")


@pytest.mark.parametrize("kind", ["command", "prompt"])
def test_a_command_may_be_longer_than_a_programs_argument(kind: Kind) -> None:
    item = "a" * 200_000
    assert render(parse_template("echo {}", kind), item, 1) == f"echo {item}"


def test_a_dash_is_noted_where_a_program_may_take_it_for_an_option() -> None:
    note = note_for(parse_template("wc -l {}", "command"), "-rf")
    assert note is not None
    assert '"-rf"' in note
    assert "./{}" in note
    assert note_for(parse_template("wc -l {}", "command"), "a-b") is None
    assert note_for(parse_template("wc -l ./{}", "command"), "-rf") is None
    assert note_for(parse_template("echo {n}", "command"), "-rf") is None
    assert note_for(parse_template("Look at {}", "prompt"), "-rf") is None
