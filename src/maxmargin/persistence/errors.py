"""The two ways in which a model and a file can disagree."""

from __future__ import annotations


class ModelFileError(ValueError):
    """What is wrong with a model file, or why a model cannot be written to one.

    Parameters
    ----------
    file : str
        Its name.
    problem : str
        What is wrong, in a sentence.
    line : int, default=None
        From 1, in files that are text.

    Examples
    --------
    >>> print(ModelFileError("model.safetensors", "the file is empty"))
    model.safetensors: the file is empty
    """

    def __init__(self, file: str, problem: str, line: int | None = None) -> None:
        super().__init__(file, problem, line)
        self.file = file
        self.problem = problem
        self.line = line

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{place}: {self.problem}"


class Refusal(Exception):
    """A problem on its way to whoever knows whose document it is; `place` says where in it, "fitted.solver[2]"."""

    def __init__(self, sentence: str, place: str = "") -> None:
        super().__init__(sentence)
        self.place = place
