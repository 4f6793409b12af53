"""The commands under one name, and what every one of them owes the user: one sentence instead of a traceback."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

import maxmargin
from maxmargin.cli.audit import audit
from maxmargin.cli.bench import bench
from maxmargin.cli.certify import certify
from maxmargin.cli.check import check
from maxmargin.cli.compare import compare
from maxmargin.cli.console import ExitCode, UserError, answers, let_go_of_stdout, messages, say_json, speak_utf8
from maxmargin.cli.convert import convert
from maxmargin.cli.demo import demo
from maxmargin.cli.doctor import doctor
from maxmargin.cli.fit import fit
from maxmargin.cli.info import info
from maxmargin.cli.leave_one_out import leave_one_out
from maxmargin.cli.options import spelt_out
from maxmargin.cli.path import path
from maxmargin.cli.perturbations import robustness
from maxmargin.cli.play import play
from maxmargin.cli.plot import plot
from maxmargin.cli.predict import predict
from maxmargin.cli.scale import scale
from maxmargin.cli.teaching import exercise, lagrange, program
from maxmargin.cli.verify import verify
from maxmargin.cli.violations import violations

PANELS = {
    "Models: make them, use them, prove them again": (fit, predict, verify, audit, violations, robustness, info, plot),
    "Questions about a table": (check, certify, path, leave_one_out, compare),
    "Files": (scale, convert),
    "To learn by": (play, exercise, lagrange, program, demo),
    "The library itself": (bench, doctor),
}
COMMANDS = tuple(command for commands in PANELS.values() for command in commands)


class EachOptionOnce(TyperCommand):
    """A command that refuses an option which is given twice: nobody knows which of the two is meant."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for parameter in given if not ctx.resilient_parsing else ():
            is_switch = getattr(parameter, "is_flag", False) and not parameter.secondary_opts
            can_repeat = parameter.param_type_name != "option" or getattr(parameter, "multiple", False) or is_switch
            if not can_repeat and given.count(parameter) > 1:
                ctx.fail(f"{max(parameter.opts, key=len)} is given {given.count(parameter)} times: give it once.")
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="maxmargin",
    help="Large-margin classification that proves its answers.",
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for panel, commands in PANELS.items():
    for command in commands:
        app.command(cls=EachOptionOnce, rich_help_panel=panel)(spelt_out(command))


def show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"maxmargin {maxmargin.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and stop.", callback=show_version, is_eager=True)
    ] = False,
) -> None:
    """What stands before the name of a command."""


options.__doc__ = None  # the help is that of the app


def run(arguments: Sequence[str]) -> int:
    """Run one command; whatever happens becomes an exit code and at most one sentence on stderr.

    With --json the sentence is also the answer: {"error": ..., "exit_code": ...} on stdout.
    """
    complain = partial(tell_problem, for_machines="--json" in arguments)
    speak_utf8()
    answers.were_given = False
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning  # type: ignore[assignment]
            code = get_command(app).main(list(arguments) or ["--help"], "maxmargin", standalone_mode=False)
        sys.stdout.flush()
    except UserError as error:
        return complain(str(error))
    except KeyboardInterrupt:
        return interrupted(complain)
    except SystemExit as end:  # Typer's answer to a closed pipe
        return end.code if isinstance(end.code, int) else ExitCode.ERROR
    except BrokenPipeError:
        let_go_of_stdout()
        return ExitCode.ERROR
    except OSError as error:
        let_go_of_stdout()
        where = error.filename or "standard output"
        problem = f"{where} cannot be {'used' if error.filename else 'written'}"
        return tell_problem(f"{problem}: {(error.strerror or str(error)).lower()}", for_machines=False)
    except MemoryError as error:
        return complain(f"there is not enough memory for this ({str(error) or 'the system gives no more'})")
    except Exception as error:
        if hasattr(error, "show"):  # wrong usage: Typer knows what to say, but its exit code means something else here
            error.show()
            return complain(str(getattr(error, "message", error)), told=True)
        if os.environ.get("MAXMARGIN_DEBUG"):
            raise
        kind = f"{type(error).__name__}: {error}".rstrip(": ")
        return complain(f"this should not happen ({kind}). MAXMARGIN_DEBUG=1 shows where; please report it.")
    if code == ExitCode.INTERRUPTED:  # so does Typer report Ctrl-C, and so does a fit that has told what it found
        return interrupted(complain)
    return int(code or ExitCode.FINE)


def tell_problem(sentence: str, for_machines: bool, told: bool = False, code: ExitCode = ExitCode.ERROR) -> int:
    if not told:
        messages.print(sentence if code is ExitCode.INTERRUPTED else f"maxmargin: {sentence}")
    if for_machines and not answers.were_given:
        say_json({"error": sentence, "exit_code": int(code)})
    return code


def interrupted(complain: Callable[..., int]) -> int:
    return complain("Interrupted.", code=ExitCode.INTERRUPTED)


def show_warning(message: Warning | str, *place: Any) -> None:
    messages.print(f"maxmargin: {message}")
