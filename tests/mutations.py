"""Small faults that can be planted in Python source: what a test suite must notice.

`faults(source)` lists every edit of these kinds, each with the function that it stands in and the line:

    comparison    <  becomes <= and so on; == becomes !=, `in` becomes `not in`, `is` becomes `is not`
    operator      + becomes -, * becomes /, & becomes |, `and` becomes `or`, a sign or a `not` is left out
    name          min becomes max, any becomes all, floor becomes ceil, and their sisters in NumPy
    constant      0 becomes 1, other numbers become twice themselves, True becomes False
    statement     a call, a `raise`, an `if` without `else`, or an assignment to a part of something is left out

Left alone: annotations, decorators, imports, text, and what runs for type checkers only.
"""

import ast
import copy
import functools
from collections import Counter
from dataclasses import dataclass, replace

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.BitAnd: "&", ast.BitOr: "|"}
SIGNS |= {ast.LShift: "<<", ast.RShift: ">>"}
PAIRS = (
    *(("min", "max"), ("any", "all"), ("floor", "ceil"), ("minimum", "maximum"), ("fmin", "fmax")),
    *(("argmin", "argmax"), ("nanmin", "nanmax"), ("floor_divide", "divide")),
)
NAMES = {name: other for pair in PAIRS for name, other in (pair, pair[::-1])}


@dataclass(frozen=True)
class Fault:
    """One edit: its place among all faults of the source, where it stands, and what it reads before and after.

    `function` and `edit` name it for good: lines may come and go above it.
    """

    place: int
    function: str
    line: int
    last_line: int
    edit: str


@functools.lru_cache(maxsize=64)
def faults(source):
    """All faults that can be planted in `source`, in the order of its text."""
    seen = Counter()
    found = []
    for fault, _ in _Planter(ast.parse(source)).every():
        seen[fault.function, fault.edit] += 1
        again = seen[fault.function, fault.edit]
        found.append(fault if again == 1 else replace(fault, edit=f"{fault.edit}  ({again})"))
    return tuple(found)


def planted(source, place):
    """The syntax tree of `source` with the fault of that place in it."""
    tree = ast.parse(source)
    for fault, plant in _Planter(tree).every():
        if fault.place == place:
            plant()
            return ast.fix_missing_locations(tree)
    raise IndexError(f"there is no fault {place}")


class _Planter:
    """Walks a tree and yields each fault with the function that plants it."""

    def __init__(self, tree):
        self.tree = tree
        self.count = 0
        self.statement = ""  # the first line of the one that is looked at

    def every(self):
        yield from self._body(self.tree, "")

    def _body(self, node, function):
        """The statements of a module, class, function, loop or branch."""
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list):
                for index, statement in enumerate(list(statements)):
                    yield from self._statement(statement, statements, index, function)
        for handler in getattr(node, "handlers", []):
            yield from self._body(handler, function)
        for case in getattr(node, "cases", []):
            yield from self._expression(case.guard, case, "guard", None, function) if case.guard else ()
            yield from self._body(case, function)

    def _statement(self, statement, siblings, index, function):
        if isinstance(statement, ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal) or _is_text(statement):
            return
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            return
        self.statement = ast.unparse(statement).split("\n", 1)[0]
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            inner = f"{function}.{statement.name}" if function else statement.name
            if isinstance(statement, ast.FunctionDef):
                yield from self._children(statement.args, inner, skip=("annotation",))
            yield from self._body(statement, inner)
            return
        if _can_be_dropped(statement):
            yield (
                self._fault(function, statement, "is left out"),
                lambda: siblings.__setitem__(index, ast.copy_location(ast.Pass(), statement)),
            )
        if isinstance(statement, ast.AugAssign) and type(statement.op) in OPERATORS:
            other = OPERATORS[type(statement.op)]()
            yield (
                self._fault(function, statement, f"becomes {SIGNS[type(other)]}="),
                lambda: setattr(statement, "op", other),
            )
        blocks = ("body", "orelse", "finalbody", "handlers", "cases", "annotation")
        yield from self._children(statement, function, skip=blocks)
        yield from self._body(statement, function)

    def _children(self, node, function, skip=()):
        for name, value in ast.iter_fields(node):
            if name in skip:
                continue
            for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(child, ast.AST):
                    yield from self._expression(child, node, name, index, function)

    def _expression(self, node, parent, name, index, function):
        if isinstance(node, ast.JoinedStr):  # a sentence: only what is computed in it counts
            for part in node.values:
                if isinstance(part, ast.FormattedValue):
                    yield from self._children(part, function, skip=("format_spec",))
            return
        if isinstance(node, ast.expr):
            for edit, changed in _changes(node):
                yield (
                    self._fault(function, node, f"{ast.unparse(node)} becomes {edit}"),
                    lambda changed=changed: _replace(parent, name, index, changed()),
                )
        skip = ("annotation",) if isinstance(node, ast.arg) else ()
        yield from self._children(node, function, skip)

    def _fault(self, function, node, edit):
        self.count += 1
        text = f"{self.statement}: {edit}"
        return Fault(self.count - 1, function or "(module)", node.lineno, node.end_lineno, text)


def _changes(node):
    """(text, maker of the node) of each fault of one expression."""
    found = []

    def change(edit):
        def changed():
            other = copy.deepcopy(node)
            return edit(other) or other

        found.append((ast.unparse(ast.fix_missing_locations(changed())), changed))

    if isinstance(node, ast.Compare):
        for k, operator in enumerate(node.ops):
            opposite = COMPARISONS[type(operator)]
            change(lambda other, k=k, opposite=opposite: other.ops.__setitem__(k, opposite()))
    elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in OPERATORS and not _is_type_union(node):
        change(lambda other: setattr(other, "op", OPERATORS[type(node.op)]()))
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.UAdd):
        change(lambda other: other.operand)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        change(lambda other: setattr(other, "value", not node.value))
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        change(lambda other: setattr(other, "value", 2 * node.value if node.value else type(node.value)(1)))
    elif isinstance(node, ast.Call):
        called = node.func
        if isinstance(called, ast.Name) and called.id in NAMES:
            change(lambda other: setattr(other.func, "id", NAMES[called.id]))
        elif isinstance(called, ast.Attribute) and called.attr in NAMES:
            change(lambda other: setattr(other.func, "attr", NAMES[called.attr]))
    return found


def _replace(parent, name, index, node):
    if index is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[index] = node


def _is_text(statement):
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_type_union(node):
    """`X | None`, as in an alias or the second argument of isinstance."""
    names = (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp)
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) else ()
    return any(isinstance(side, ast.Constant) and side.value is None for side in sides) or (
        bool(sides) and all(isinstance(side, names) and ast.unparse(side)[:1].isupper() for side in sides)
    )


def _can_be_dropped(statement):
    if isinstance(statement, ast.Expr | ast.AugAssign | ast.Raise | ast.Delete | ast.Continue | ast.Break):
        return True
    if isinstance(statement, ast.If):
        return not statement.orelse
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Attribute | ast.Subscript) for target in statement.targets)
    return False
