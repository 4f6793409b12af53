"""A fit that may be killed at any moment: another process goes on where it was, and ends with the same bits.

    fit_with_checkpoints(LinearSVM(C=10), X, y, path="run.checkpoint")                 from the beginning
    fit_with_checkpoints(LinearSVM(C=10), X, y, path="run.checkpoint", resume=True)    from where the file says

The file is a safetensors file like those of models, and closed in the same way. A document of version 2 has the fields

    format, version, written_by     "maxmargin checkpoint", 2, the version of maxmargin
    estimator, parameters           as in a model, without those that change no bit (max_time, verbose)
    data, weights                   the fingerprints of the table and of the rows' weights, or null; of a table that is
                                    read by blocks within a memory budget, one for both, and for how it is cut
    problems                        for each two-class problem its state (`problems.protocol`); arrays stand as
                                    {"array": true}, and are called "0/judge/w" in the file

Only the same version goes on with a run, on the same data and with the same parameters. The bits are the same where the
machine and the libraries are. What a file says is compared with what the run itself would write, and whatever was found
is certified from the data at the end: a wrong file can mislead a run, but not its certificate.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from typing import Any, NamedTuple

import numpy as np

from maxmargin._version import __version__
from maxmargin.data.checking import check_weights
from maxmargin.data.executor import pass_over
from maxmargin.data.labelled import with_labels
from maxmargin.data.table import is_dask, is_sparse
from maxmargin.estimators import by_blocks
from maxmargin.persistence import container
from maxmargin.persistence.container import read_whole, write_atomically
from maxmargin.persistence.errors import ModelFileError, Refusal
from maxmargin.persistence.model_file import ESTIMATORS
from maxmargin.persistence.record import Fingerprint, write_parameters
from maxmargin.persistence.schema import Arrays, Reader, shown, written
from maxmargin.problems.protocol import Record, StateError
from maxmargin.run.observation import keeping
from maxmargin.run.snapshots import Snapshots

FORMAT = "maxmargin checkpoint"
VERSION = 2
CHANGES_NO_BIT = ("max_time", "verbose")
MOST_ARRAYS = 2**20
ARRAY = {"array": True}


def fit_with_checkpoints(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    path: str | os.PathLike[str],
    every: float = 60.0,
    resume: bool = False,
) -> Any:
    """Fit the estimator, and keep the run in a file every so many seconds, and when it is stopped.

    With `resume` the run goes on from the file, which must be of the same data, parameters and version: anything else
    is a `ModelFileError`. Saving changes no bit of the run. Where the disk is full, a warning says so, and it goes on.
    """
    name, given = os.fspath(path), {} if sample_weight is None else {"sample_weight": sample_weight}
    try:
        identity = identity_of(estimator, X, y, sample_weight)
        earlier = records_in(read_whole(path, container.LONGEST_FILE), identity) if resume else []
        write(path, identity, earlier)  # now, while somebody looks: a folder may be missing
    except Refusal as refusal:
        raise ModelFileError(name, str(refusal)) from None

    def keep(records: list[Record]) -> None:
        try:
            write(path, identity, records)
        except OSError as error:
            warnings.warn(f"{name}: the checkpoint cannot be written ({error.strerror}); the fit goes on", stacklevel=2)

    snapshots = Snapshots(keep, every, earlier)
    try:
        with keeping(snapshots):
            return estimator.fit(X, y, **given)
    except StateError as error:
        raise ModelFileError(name, str(error)) from None
    finally:
        snapshots.write()


def identity_of(estimator: Any, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
    """What must be the same in whoever goes on."""
    kind = type(estimator).__name__
    if ESTIMATORS.get(kind) is not type(estimator) or kind == "LinearSVMCV":
        raise Refusal(f"a run of a {kind} cannot be kept")
    values = estimator.get_params(deep=False)
    if values.get("random_state", 0) is None:
        raise Refusal("random_state=None draws another seed in each process: give a number")
    if values.get("record", False) is not False or values.get("warm_start", False):
        raise Refusal("a record of updates and a warm start are not kept: record=False, warm_start=False")
    written = {
        name: value
        for name, value in write_parameters(estimator.parameters, values).items()
        if name not in CHANGES_NO_BIT
    }
    weights, by_passes = None, stays_in_blocks(estimator, X, y)
    if sample_weight is not None and not by_passes:
        numbers = check_weights(sample_weight, np.shape(y)[0])
        weights = hashlib.sha256(np.ascontiguousarray(numbers, dtype="<f8").data).hexdigest()
    identity = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": __version__,
        "estimator": kind,
        "parameters": written,
        "data": of_blocks(X, y, sample_weight) if by_passes else Fingerprint.of(X, y).to_dict(),
        "weights": weights,
    }
    return dict(json.loads(json.dumps(identity)))


def stays_in_blocks(estimator: Any, X: Any, y: Any) -> bool:
    """Whether no part of the run has the length of the table."""
    if hasattr(estimator, "memory"):
        return by_blocks.is_asked(estimator, X, y)
    if not by_blocks.is_asked_of_a_learner(X, y):
        return False
    return by_blocks.can_sweep(estimator) if hasattr(estimator, "order") else hasattr(estimator, "step")


def of_blocks(X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
    """The fingerprint of a table that is read by blocks; where X has none of its own, one pass makes it."""
    has_own = is_dask(X) or hasattr(X, "fingerprint")
    own = {} if has_own else {"kind": "rows", "rows": pass_over(Digests(), X).content.hex()}
    return {**with_labels(X, y, sample_weight).fingerprint(), **own}


class Digests(NamedTuple):
    """Of the numbers of blocks, and of how the rows are cut."""

    content: bytes = b""

    def __call__(self, X: Any) -> Digests:
        found = hashlib.sha256(f"{X.shape} {X.dtype}\n".encode())
        for part in (X.indptr, X.indices, X.data) if is_sparse(X) else (np.asarray(X),):
            found.update(np.ascontiguousarray(part).data)
        return Digests(found.digest())

    def and_of(self, other: Digests) -> Digests:
        return Digests(hashlib.sha256(self.content + other.content).digest())


def write(path: str | os.PathLike[str], identity: dict[str, Any], records: list[Record]) -> None:
    """Replace the file."""
    arrays: Arrays = {}
    problems = [described(record, str(number), arrays) for number, record in enumerate(records)]
    write_atomically(path, container.pack({**identity, "problems": problems}, arrays))


def described(record: Record, place: str, arrays: Arrays) -> dict[str, Any]:
    """A record in JSON; its arrays are put aside, under the names of their places."""
    document: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, np.ndarray):
            arrays[f"{place}/{name}"] = value
            document[name] = ARRAY
        elif isinstance(value, dict):
            document[name] = {"state": described(value, f"{place}/{name}", arrays)}
        else:
            document[name] = written(value, arrays)
    return document


def records_in(data: bytes, identity: dict[str, Any]) -> list[Record]:
    """The records of a file that is of this run, or a `Refusal`."""
    document, arrays = container.unpack(data, MOST_ARRAYS)
    reader = Reader(arrays)
    with reader.fields(document) as fields:
        if fields.take("format") != FORMAT:
            raise Refusal("it is not a checkpoint of maxmargin")
        for name in ("version", "written_by", "estimator", "parameters", "data", "weights"):
            compare(name, fields.take(name), identity[name])
        problems = fields.take("problems", list[Any])
    records = [record_in(str(number), state, reader) for number, state in enumerate(problems)]
    reader.close()
    return records


def compare(name: str, there: Any, here: Any) -> None:
    """One sentence where the file is of another run."""
    if there == here:
        return
    if name in ("data", "weights"):
        what = "data" if name == "data" else "weights of the rows"
        raise Refusal(f"it is of a run on other {what}, by their fingerprint")
    if name == "parameters" and isinstance(there, dict):
        for parameter, value in here.items():
            if there.get(parameter) != value:
                before = shown(there.get(parameter))
                raise Refusal(f"it is of a run with {parameter}={before}, and here it is {shown(value)}")
    before = shown(there)
    raise Refusal(f"it is of a run with {name.replace('_', ' ')} {before}, and here it is {shown(here)}")


def record_in(place: str, document: Any, reader: Reader) -> Record:
    """The way back."""
    fields = reader.fields(document, f"the state {place[:80]!r}").left
    return {name: value_in(f"{place}/{name}", value, reader) for name, value in fields.items()}


def value_in(name: str, value: Any, reader: Reader) -> Any:
    if value == ARRAY:
        if name not in reader.arrays:
            raise Refusal(f"the array {name[:80]!r} is missing")
        return reader.arrays.pop(name)
    if isinstance(value, dict) and set(value) == {"state"}:
        return record_in(name, value["state"], reader)
    if isinstance(value, dict):
        return reader.value(float, value, repr(name[:80]))
    if not isinstance(value, bool | int | float | str):
        raise Refusal(f"{name[:80]!r} must be a number, a flag or a text, not {shown(value)}")
    return value
