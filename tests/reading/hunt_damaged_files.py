"""Damaged files of every format and damaged models: is each read, or refused in a sentence, at once?

    PYTHONPATH=src:tests python tests/reading/hunt_damaged_files.py [FILES] [SEED]        20000 and 0 by default

Tables are injured as `test_damaged_files` does it; every model of the corpus likewise, and then it must be refused, or
be a model that predicts.
"""

import io
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from persistence.make_corpus import CORPUS
from reading.test_damaged_files import FILES, mutated

from maxmargin.persistence import ModelFileError, load
from maxmargin.reading.files import DataFileError
from maxmargin.reading.read import read_table


def table_end(raw, options):
    try:
        table = read_table(io.BytesIO(raw), **options)
    except DataFileError as error:
        return "refused" if "\n" not in str(error) else "WRONG"
    finite = np.isfinite(table.X.data if sparse.issparse(table.X) else table.X).all()
    return "read" if finite and len(table.lines) == table.X.shape[0] else "WRONG"


def model_end(raw, path):
    path.write_bytes(raw)
    try:
        model = load(path)
    except ModelFileError as error:
        return "refused" if "\n" not in str(error) else "WRONG"
    columns = getattr(model, "n_features_in_", 1)
    return "read" if np.all(np.isin(model.predict(np.zeros((1, columns))), model.classes_)) else "WRONG"


def main(files=20_000, seed=0):
    warnings.simplefilter("ignore")
    random, ends, models = np.random.default_rng(seed), Counter(), sorted(CORPUS.glob("*/*.safetensors"))
    tables = [(make(), options) for make, options in FILES.items()]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(files):
            try:
                if number % 2:
                    raw, options = tables[number // 2 % len(tables)]
                    found = table_end(mutated(raw, random), options)
                else:
                    raw = models[number // 2 % len(models)].read_bytes()
                    found = model_end(mutated(raw, random), Path(folder) / "model")
            except Exception as error:
                found = "WRONG"
                print(f"file {number}: {type(error).__name__}: {error}")
            ends[found] += 1
    told = f"{ends['refused']:,} refused, {ends['read']:,} read"
    print(f"{files:,} damaged files: {told}, {ends['WRONG']:,} ended otherwise")
    return 1 if ends["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
