"""What a module says of its public names: signatures and docstrings, read without importing it."""

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

DEFAULT = re.compile(r"(: [\w.| ]+)=")
FACTORY = re.compile(r"^field\(default_factory=(\w+)\)$")
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Entry:
    """One public name: how it is written in use, what it is, its members, and the classes it is based on."""

    name: str
    signature: str
    text: str
    members: "list[Entry]" = field(default_factory=list)
    bases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Package:
    """A package's front: the names it gives away, and the module each comes from."""

    names: list[str]
    origins: dict[str, str]


def read_package(init: Path) -> Package:
    """Read the ``__all__`` of a package and its imports."""
    names: list[str] = []
    origins: dict[str, str] = {}
    for node in ast.parse(init.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            origins |= {alias.asname or alias.name: node.module for alias in node.names}
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names = list(ast.literal_eval(node.value))
    return Package(names, origins)


def read_module(path: Path) -> dict[str, Entry]:
    """Read the public classes, functions and documented constants of a module, by name."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return {entry.name: entry for entry in _entries(body)}


def _entries(body: list[ast.stmt]) -> Iterator[Entry]:
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    for number, node in enumerate(body):
        name = _name(node)
        if name is None or name.startswith("_"):
            continue
        if isinstance(node, ast.ClassDef):
            yield _class(node, classes)
        elif isinstance(node, Function):
            if not _is_overload(node):
                yield Entry(name, _signature(node), _docstring(node))
        else:
            following = body[number + 1] if number + 1 < len(body) else None
            yield Entry(name, ast.unparse(node), _text_below(following))


def _name(node: ast.stmt) -> str | None:
    if isinstance(node, ast.ClassDef | Function):
        return node.name
    target: ast.expr | None = None
    if isinstance(node, ast.AnnAssign):
        target = node.target
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
    return target.id if isinstance(target, ast.Name) else None


def _class(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> Entry:
    made_by = next(
        (each for each in node.body if isinstance(each, Function) and each.name == "__init__"), None
    )
    if made_by is None:
        signature = _dataclass(node, classes)
    else:
        signature = _signature(made_by).replace("__init__", node.name, 1)
    members = [entry for entry in _entries(node.body) if entry.text]
    bases = tuple(base for base in map(ast.unparse, node.bases) if not base.startswith("_"))
    return Entry(node.name, signature, _docstring(node), members, bases)


def _dataclass(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> str:
    """Write how a dataclass is made; of another class only the name."""
    if not any(ast.unparse(decorator).startswith("dataclass") for decorator in node.decorator_list):
        return node.name
    return f"{node.name}({', '.join(_fields(node, classes).values())})"


def _fields(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> dict[str, str]:
    """Write the fields of a dataclass by their names, those of its bases in the module before its own."""
    fields: dict[str, str] = {}
    for base in map(ast.unparse, reversed(node.bases)):
        if base in classes:
            fields |= _fields(classes[base], classes)
    own = [each for each in node.body if isinstance(each, ast.AnnAssign)]
    return fields | {ast.unparse(each.target): _field(each) for each in own}


def _field(node: ast.AnnAssign) -> str:
    text = f"{ast.unparse(node.target)}: {ast.unparse(_Unquoted.annotation(node.annotation))}"
    if node.value is None:
        return text
    default = FACTORY.sub(r"\1()", ast.unparse(node.value))
    return f"{text} = {default}"


def _signature(node: Function) -> str:
    arguments = _Unquoted().visit(node.args)
    first = [*arguments.posonlyargs, *arguments.args][:1]
    if first and first[0].arg in {"self", "cls"}:
        (arguments.posonlyargs or arguments.args).pop(0)
    if any(ast.unparse(decorator) == "property" for decorator in node.decorator_list):
        return node.name
    given = (
        ""
        if node.returns is None or node.name == "__init__"
        else f" -> {ast.unparse(_Unquoted.annotation(node.returns))}"
    )
    kind = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    return DEFAULT.sub(r"\1 = ", f"{kind}{node.name}({ast.unparse(arguments)}){given}")


class _Unquoted(ast.NodeTransformer):
    """Writes annotations that stand in quotes without them."""

    @staticmethod
    def annotation(node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return ast.parse(node.value, mode="eval").body
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        if node.annotation is not None:
            node.annotation = self.annotation(node.annotation)
        return node


def _is_overload(node: Function) -> bool:
    return any(ast.unparse(decorator) == "overload" for decorator in node.decorator_list)


def _docstring(node: ast.ClassDef | Function) -> str:
    return ast.get_docstring(node) or ""


def _text_below(node: ast.stmt | None) -> str:
    """Give the string that stands below a constant or a class attribute to describe it."""
    if (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ):
        return inspect.cleandoc(node.value.value)
    return ""
