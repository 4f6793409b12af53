"""Groups of options: a dataclass that a command takes as one argument, and that Typer sees spelt out."""

import inspect
from dataclasses import dataclass, fields
from typing import Annotated, ClassVar

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from maxmargin.cli import main
from maxmargin.cli.app import COMMANDS, app
from maxmargin.cli.options import ReadingOptions, Spelt, spelt_out


@dataclass(frozen=True)
class Paint:
    colour: Annotated[str, typer.Option("--colour", "-k")] = "red"
    layers: int = 1
    glossy: bool = False

    at_the_end: ClassVar = ("glossy",)


def invoked(command, *words):
    made = typer.Typer()
    made.command()(spelt_out(command))
    answer = CliRunner().invoke(made, list(words), catch_exceptions=False, standalone_mode=False)
    return answer.return_value


def names_of(command):
    return list(inspect.signature(spelt_out(command)).parameters)


def test_a_command_gets_its_group_as_one_argument():
    def paint(wall: str, how: Paint, as_json: bool = False):
        return wall, how, as_json

    assert names_of(paint) == ["wall", "colour", "layers", "glossy", "as_json"]
    assert invoked(paint, "north") == ("north", Paint(), False)
    assert invoked(paint, "north", "-k", "blue", "--glossy", "--as-json") == ("north", Paint("blue", 1, True), True)
    assert spelt_out(paint).__name__ == "paint"


def test_options_at_the_end_of_a_group_stand_before_json_alone():
    def paint(*, wall: str, how: Paint, hurry: bool = False, as_json: bool = False):
        return how

    def paint_at_once(*, wall: str, how: Annotated[Paint, Spelt(in_one_place=True)], hurry: bool = False):
        return how

    assert names_of(paint) == ["wall", "colour", "layers", "hurry", "glossy", "as_json"]
    assert names_of(paint_at_once) == ["wall", "colour", "layers", "glossy", "hurry"]


def test_options_that_are_left_out_keep_their_defaults():
    def paint(how: Annotated[Paint, Spelt(without=("layers",))]):
        return how

    assert names_of(paint) == ["colour", "glossy"]
    assert invoked(paint, "--colour", "blue") == Paint("blue", 1)


def test_one_option_cannot_be_of_two_groups():
    def paint(how: Paint, again: Paint):
        return how, again

    with pytest.raises(ValueError, match="duplicate parameter name: 'colour'"):
        spelt_out(paint)


def test_every_command_that_reads_data_reads_them_by_the_same_options():
    """Whoever has --format has all of them, but for what a model knows and for the weights of a benchmark."""
    shown = {name: {option.name for option in one.params} for name, one in get_command(app).commands.items()}
    own = {field.name for field in fields(ReadingOptions)}
    lacking = {name: own - options for name, options in shown.items() if "format" in options}
    of_a_model = {"categorical", "text", "impute"}
    assert lacking == {
        **dict.fromkeys(
            ("fit", "check", "certify", "path", "leave-one-out", "compare", "scale", "convert"), frozenset()
        ),
        **dict.fromkeys(("predict", "verify", "audit", "violations", "robustness", "plot"), of_a_model),
        "bench": {"weight"},
    }
    assert set(shown) == {command.__name__.replace("_", "-") for command in COMMANDS}


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (["-c", "1", "--C", "2"], "--C"),
        (["--label", "a", "--label", "b"], "--label"),
        (["--zero-based", "--one-based"], "--zero-based"),
    ],
)
def test_an_option_that_is_given_twice_is_refused(options, name, write, capsys):
    assert main(["fit", write("x,label\n0,a\n1,b\n"), *options]) == 1
    assert f"{name} is given 2 times: give it once" in capsys.readouterr().err


def test_switches_and_lists_may_be_repeated(write, capsys):
    data = write("x,a,b,label\n0,1,2,a\n1,1,2,b\n")
    assert main(["fit", data, "--ignore", "a", "--ignore", "b", "--json", "--json"]) == 0
