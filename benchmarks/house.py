"""What a reader and an extender pay: files on the way of a fit, files that an extension touches, cycles, lines.

    python benchmarks/house.py
    python benchmarks/house.py --source ../another_checkout/src

Counts, not seconds: the walks are traced while they run, the rest is read off the source. Prints a table.
"""

import argparse
import ast
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

# The files that a new member of a family would touch: those whose code, its docstrings apart, names the newest member.
# (A file that names all members of a registry at once, and so learns of a new one by itself, names none. What is of
# the first members alone, such as formats of other programs, a new one does not touch.)
FAMILIES = {
    "loss": r"(?i)modified_huber",
    "kernel": r"[lL]aplacian",
    "solver": r"semismooth_newton|\"newton\"",
    "certificate kind": r"KernelSeparationCertificate|\"kernel separation\"|Kind\.KERNEL_SEPARATION",
    "table": r"csr_(matrix|array)|issparse|is_sparse|row_blocks|float_blocks|blocks_of|block_edges|spans\(",
}
KINDS_OF_TABLE = r"\b(InMemory|Surveyed)\b"  # where a table is blocks, whatever they are made of
# Lines that compute over all rows of a table, or cut them. (Products with a few rows at hand, such as a working set,
# are none, nor are sweeps, which read a row and change w before the next.)
TABLE = r"(?:X|part|block|rows|sizes|problem\.X)(?:\.astype\([^)]*\))?"
PASSES = {
    "X.w": rf"[^\"]\b{TABLE} @ (?!\(|X\.T)|einsum\(\"ij,j->i\", (?!self\.A)|\] = dot\(rows, \w+(?:\[k\])?, w\)",
    "X'c": rf"\b{TABLE}\.T(?:\.astype\([^)]*\))? @ (?!\(signs)|einsum\(\"ij,i->j\"|product\(.*\.T, "
    r"|add\(rows, \w+\[k\], (?:c|weights)\[k\]",
    "blocks": r"def (?!n_blocks|\w*by_blocks|certify)(?:\w+_blocks|blocks(?:_of)?|spans|\w*edges\w*)\((?!self, loop)",
}
SIDES = {"the solvers": r"maxmargin\.solvers\.(?!kernel)", "the judge": r"maxmargin\.certificates\.(?!\w*kernel)"}
# Names that Python itself, its notebooks or pandas give to methods that others call.
OF_PYTHON = ("_asdict", "_constructor", "_constructor_sliced", "_getframe", "_make", "_replace", "_repr_html_")
CHECKPOINTS = (  # `yield None`: at rest; a bare `yield` is a pause of somebody else, and mypy refuses it here
    r"notebook|Notebook|\.(?:at_)?rest\(|take_up|\bpage\b|pages\b|[sS]napshot|restored?\(|after_restore|AT_REST|resumed\("
    r"|^\s*yield None$|own_rows\("
)


class Walk:
    """The files of the package that a piece of work enters, and how often it goes from one to another."""

    def __init__(self, source):
        self.source, self.functions = str(source / "maxmargin"), set()
        self.switches, self.resumes = Counter(), 0
        self.calls, self.last, self.seen = defaultdict(Counter), {}, set()

    def see(self, frame, event, _):
        if event != "call" or not frame.f_code.co_filename.startswith(self.source):
            return
        code, here = frame.f_code, threading.get_ident()
        file = str(Path(code.co_filename).relative_to(self.source))
        self.functions.add(code)
        self.calls[file][code.co_qualname] += 1
        if (last := self.last.get(here, file)) != file:
            self.switches[f"{last} > {file}"] += 1
        self.last[here] = file
        if code.co_flags & 0x20:  # a generator: from its second call on it is resumed
            self.resumes += id(frame) in self.seen
            self.seen.add(id(frame))

    def of(self, work):
        threading.setprofile(self.see)
        sys.setprofile(self.see)
        try:
            work()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        return {
            "files": len(self.calls),
            "rooms": len({Path(file).parent for file in self.calls}),
            "functions": len(self.functions),
            "switches": self.switches.total(),
            "resumes": self.resumes,
            "names": sorted(self.calls),
            "calls": self.calls,
            "pairs": self.switches.most_common(),
        }


def linear_fit():
    import numpy as np

    from maxmargin import LinearSVM

    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 10))
    y = np.where(X @ rng.normal(size=10) + 0.5 * rng.normal(size=3000) > 0, 1, -1)
    return lambda: LinearSVM().fit(X, y)


def kernel_fit():
    import numpy as np

    from maxmargin import KernelSVM

    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 8))
    y = np.where((X**2).sum(axis=1) > 8, 1, -1)
    return lambda: KernelSVM().fit(X, y)


def hard_margin_fit():
    import numpy as np

    from maxmargin import HardMarginSVM

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += y
    return lambda: HardMarginSVM().fit(X, y)


def command_fit():
    import numpy as np

    from maxmargin.cli.app import app

    folder = Path(tempfile.mkdtemp())
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=200) > 0, "yes", "no")
    lines = ["a,b,c,d,label", *(",".join([*map(repr, map(float, row)), name]) for row, name in zip(X, y, strict=True))]
    (folder / "d.csv").write_text("\n".join(lines) + "\n")

    def work():
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            app([str(word) for word in ("fit", folder / "d.csv", "-o", folder / "m.mm")], standalone_mode=False)

    return work


def drag():
    from starlette.testclient import TestClient

    room = "playground" if find_spec("maxmargin.playground") else "play"

    server = import_module(f"maxmargin.{room}.server")
    presets = import_module(f"maxmargin.{room}.presets")
    points = [list(point) for point in presets.points_named("separable")]
    state = {"points": points, "algorithm": "hard_margin", "parameters": {}}
    client = TestClient(server.make_app("token", 8765), base_url="http://127.0.0.1:8765")
    headers = {"host": "127.0.0.1:8765", "origin": "http://127.0.0.1:8765"}

    def work():
        with client.websocket_connect("/ws", ["maxmargin", "token"], headers=headers) as socket:
            socket.send_text(json.dumps({"id": 1, "panel": "a", "ask": "answer", "state": state}))
            assert "error" not in socket.receive_json()

    return work


WALKS = {
    "LinearSVM().fit": linear_fit,
    "KernelSVM().fit": kernel_fit,
    "HardMarginSVM().fit": hard_margin_fit,
    "maxmargin fit": command_fit,
    "a drag in the playground": drag,
}


def walk(name, source):
    """One walk, after the same work has been done once: what is loaded lazily is loaded."""
    work = WALKS[name]()
    work()
    print(json.dumps(Walk(source).of(work)))


def walked(name, source):
    # Loops are compiled, as in every fit but the first small ones: a walk enters none of them.
    environment = {**os.environ, "PYTHONPATH": str(source), "MAXMARGIN_UNCOMPILED_ROWS": "0"}
    command = [sys.executable, __file__, "--source", str(source), "--walk", name]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def print_files(steps):
    for file, calls in sorted(steps["calls"].items()):
        print(f"{file}\n    " + ", ".join(f"{name} {times}" for name, times in calls.items()))
    print(f"{steps['switches']} switches")
    for pair, times in steps["pairs"]:
        print(f"{times:6d}  {pair}")


def code_of(tree):
    """A module without its comments and docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree).replace("'", '"')


def modules_of(source):
    return {
        ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted((source / "maxmargin").rglob("*.py"))
    }


def imports_of(tree, modules):
    """Modules of the package that a module imports, lazily too, but not for types alone."""
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in modules else node.module


def cycles_of(graph):
    """The strongly connected components of more than one module (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(module):
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in graph[module]:
            if other not in index:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            place = stack.index(module)
            found.append(stack[place:])
            del stack[place:]

    for module in graph:
        if module not in index:
            visit(module)
    return sorted((component for component in found if len(component) > 1), key=len, reverse=True)


def private_calls(tree):
    """Calls `thing._method(...)` where the thing is neither self, cls, super() nor a module's own."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        name, owner = node.func.attr, node.func.value
        if not name.startswith("_") or name.startswith("__") or name in OF_PYTHON:
            continue
        if isinstance(owner, ast.Name) and owner.id in ("self", "cls"):
            continue
        if isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "super":
            continue
        yield node.lineno, ast.unparse(node.func)


def read_off(source):
    modules = modules_of(source)
    texts = {module: path.read_text(encoding="utf-8") for module, path in modules.items()}
    trees = {module: ast.parse(text) for module, text in texts.items()}
    graph = {
        module: sorted({found for found in imports_of(tree, modules) if found in modules and found != module})
        for module, tree in trees.items()
    }
    for module in graph:  # a package is not its parts: `import maxmargin` for the version closes no circle
        graph[module] = [other for other in graph[module] if modules[other].name != "__init__.py"]
    codes = {module: code_of(ast.parse(text)) for module, text in texts.items()}
    families = {**FAMILIES, "table": KINDS_OF_TABLE} if "maxmargin.data.table" in modules else FAMILIES
    algorithms = [module for module in modules if re.match(r"maxmargin\.(solvers|solve)\b", module)]
    names = defaultdict(list)
    for module, path in modules.items():
        if path.name not in ("__init__.py", "__main__.py"):
            names[path.name].append(module)
    lines = {
        module: [number for number, line in enumerate(texts[module].splitlines(), 1) if re.search(CHECKPOINTS, line)]
        for module in algorithms
    }
    return {
        "families": {
            family: sorted(module for module, code in codes.items() if re.search(pattern, code))
            for family, pattern in families.items()
        },
        "passes": {
            (name, side): sorted(
                module for module, text in texts.items() if re.match(room, module) and re.search(pattern, text)
            )
            for name, pattern in PASSES.items()
            for side, room in SIDES.items()
        },
        "checkpoints": {module: len(found) for module, found in lines.items() if found},
        "cycles": cycles_of(graph),
        "private": {module: calls for module, tree in trees.items() if (calls := sorted(private_calls(tree)))},
        "names": {name: where for name, where in sorted(names.items()) if len(where) > 2},
        "lines": sum(text.count("\n") for text in texts.values()),
        "files": len(texts),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[1] / "src")
    parser.add_argument("--walk", choices=WALKS, nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--names", action="store_true", help="name the files that are counted")
    parser.add_argument(
        "--files", choices=WALKS, help="the files of one walk: what is called in each, and its switches"
    )
    options = parser.parse_args()
    source = options.source.resolve()
    if options.walk:
        for name in options.walk:
            walk(name, source)
        return None
    if options.files:
        return print_files(walked(options.files, source))
    found = read_off(source)
    rows = [
        (f"files whose code names one {family}", len(modules), ", ".join(modules))
        for family, modules in found["families"].items()
    ]
    for name in WALKS:
        steps = walked(name, source)
        told = "{files} files in {rooms} rooms, {functions} functions, {switches} switches, {resumes} resumes".format(
            **steps
        )
        rows.append((f"on the way of {name}", told, ", ".join(steps["names"])))
    rows += [
        (f"files of {side} that compute {name}", len(modules), ", ".join(modules))
        for (name, side), modules in found["passes"].items()
    ]
    kept = found["checkpoints"]
    rows.append(("lines for checkpoints, in algorithms", f"{sum(kept.values())} in {len(kept)} files", str(kept)))
    sizes = " and ".join(str(len(cycle)) for cycle in found["cycles"])
    rows.append(
        ("import cycles (modules)", f"{len(found['cycles'])} ({sizes})" if sizes else "0", str(found["cycles"]))
    )
    private = found["private"]
    rows.append(("private methods called from outside", sum(map(len, private.values())), str(private)))
    rows.append(("file names used three times or more", len(found["names"]), str(found["names"])))
    rows.append(("lines in files", f"{found['lines']:,} in {found['files']}", ""))
    print("| | |\n|---|--:|")
    for title, figure, names in rows:
        print(f"| {title} | {figure} |")
        if options.names and names:
            print(f"<!-- {names} -->")
    return None


if __name__ == "__main__":
    sys.exit(main())
