"""What the columns of a file go through before a classifier sees them.

    numbers      missing cells filled in with the mean (--impute), then scaled
    categories   missing cells filled in with the most frequent one (--impute), then a column of 0 and 1 for each; one
                 that the fit has not seen is 0 in all of them
    text         its words, hashed into columns; a text that is missing is empty

A column of words is taken as categories if it has few of them; otherwise the user says what it is. All of it is
scikit-learn's own, is kept in the model, and is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from maxmargin.certificates.words import counted
from maxmargin.cli.console import UserError
from maxmargin.cli.options import Scaling
from maxmargin.cli.tables import DataFile

MOST_CATEGORIES = 100  # in a column that was not said to be categorical
HASHED_COLUMNS = 2**14
SHOWN = 3  # categories in a message


def preparation_of(table: DataFile, scaling: Scaling, impute: bool) -> Any:
    """The steps for this file, a Pipeline that is not fitted; None where the rows are taken as they are."""
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder

    scaler = make_scaler(scaling, table.X)
    steps = [("impute", SimpleImputer())] if impute else []
    steps += [("scale", scaler)] if scaler is not None else []
    if not table.texts:
        return Pipeline(steps) if steps else None
    n_numbers = table.X.shape[1]
    kinds = {index: kind_of(table, name) for index, name in enumerate(table.texts, n_numbers)}
    blocks: list[tuple[str, Any, Any]] = []
    if n_numbers:
        blocks.append(("numbers", Pipeline(steps) if steps else "passthrough", list(range(n_numbers))))
    if categories := [index for index, kind in kinds.items() if kind == "category"]:
        encode = [("impute", SimpleImputer(strategy="most_frequent"))] if impute else []
        encode += [("encode", OneHotEncoder(handle_unknown="ignore"))]
        blocks.append(("categories", Pipeline(encode), categories))
    hasher = HashingVectorizer(n_features=HASHED_COLUMNS)
    blocks += [(f"text {index}", hasher, index) for index, kind in kinds.items() if kind == "text"]
    return Pipeline([("columns", ColumnTransformer(blocks))])


def kind_of(table: DataFile, name: str) -> str:
    """What a column of words is: what the user says; categories if they are few; a doubt otherwise.

    Words that are numbers in another notation are a doubt, too: few of them would be as many categories.
    """
    from maxmargin.reading.notations import disguised_number

    if name in table.asked:
        return table.asked[name]
    words = [word for word in dict.fromkeys(table.texts[name].tolist()) if isinstance(word, str)]
    n_words = len(words)
    if (found := disguised_number(words)) is not None:
        raise UserError(
            f"{table.name}: column {name!r} holds {found[0]!r} and its like, which are no categories by their looks: "
            f"{found[1]}; --categorical {name} makes a column for each of them nevertheless, --ignore {name} passes it "
            "over"
        )
    if n_words > MOST_CATEGORIES:
        raise UserError(
            f"{table.name}: column {name!r} holds {n_words:,} different words, more than {MOST_CATEGORIES}; say what "
            f"it is: --categorical {name} makes a column for each of them, --text {name} reads it word by word, "
            f"--ignore {name} passes it over"
        )
    return "category"


def prepare(table: DataFile, preparation: Any) -> Any:
    """Fit the steps to a file, and give the rows as they make them."""
    return table.X if preparation is None else numbers_of(preparation.fit_transform(table.rows()))


def transformed(block: DataFile, steps: Any) -> Any:
    """The rows as fitted steps make them: numbers and words go to their own ones, with no table of objects for both."""
    columns = steps.steps[0][1]
    if not (block.texts and hasattr(columns, "transformers_")):
        return numbers_of(steps.transform(block.rows()))
    import numpy as np
    import scipy.sparse as sparse

    from maxmargin.data.table import is_sparse

    made: list[Any] = []
    for title, step, chosen in columns.transformers_:
        if title == "remainder":
            continue
        names = [block.names[place] for place in np.atleast_1d(chosen)] if block.names else []
        own = block.X.astype(np.float64) if title == "numbers" else block.rows(names)
        made.append(step.transform(own[:, 0] if isinstance(chosen, int) else own))
    if columns.sparse_output_:
        return sparse.hstack(made, format="csr")
    return np.hstack([part.toarray() if is_sparse(part) else part for part in made])


def encoded(table: DataFile, scaling: Scaling, impute: bool) -> DataFile:
    """The same file with numbers in all columns, and their names."""
    preparation = preparation_of(table, scaling, impute)
    X = prepare(table, preparation)
    names = None if table.names is None else names_after(preparation, table.names)
    return table._replace(X=X, texts={}, feature_names=names)


def names_after(preparation: Any, names: Sequence[str]) -> tuple[str, ...]:
    """The names of the columns that a Pipeline makes of those with these names: colour=red for a category."""
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.preprocessing import OneHotEncoder

    first: Any = None if preparation is None else preparation.steps[0][1]
    if not hasattr(first, "transformers_"):
        return tuple(names)
    made: list[str] = []
    for _, inner, chosen in first.transformers_:
        step = inner.steps[-1][1] if hasattr(inner, "steps") else inner
        if isinstance(step, HashingVectorizer):
            made += [f"{names[chosen]}#{column}" for column in range(step.n_features)]
        elif isinstance(step, OneHotEncoder):
            made += [
                f"{names[place]}={value}"
                for place, known in zip(chosen, step.categories_, strict=True)
                for value in known.tolist()
            ]
        else:
            made += [names[place] for place in chosen]
    return tuple(made)


def numbers_of(X: Any) -> Any:
    """Float64, where numbers have passed through a table of objects as they are."""
    return X.astype(float) if X.dtype.kind == "O" else X


def inner_steps(step: Any) -> Iterator[tuple[Any, Any]]:
    """The steps that a Pipeline, or None, or a ColumnTransformer in it consists of, and the columns of each block."""
    for entry in getattr(step, "transformers_", getattr(step, "steps", ())):
        if hasattr(entry[1], "steps") or hasattr(entry[1], "transformers_"):
            for inner, chosen in inner_steps(entry[1]):
                yield inner, chosen if len(entry) == 2 else entry[2]
        else:
            yield entry[1], entry[2] if len(entry) == 3 else None


def fills_in(preparation: Any) -> bool:
    """Whether missing cells are welcome."""
    from sklearn.impute import SimpleImputer

    return any(isinstance(step, SimpleImputer) for step, _ in inner_steps(preparation))


class UnknownWords:
    """Categories that the fit has not seen, of one table or of its blocks: how many, and some of them."""

    def __init__(self) -> None:
        self.found: dict[str, list[Any]] = {}  # by column: rows with such words, all rows, the first of the words

    def look(self, preparation: Any, rows: Any, names: Sequence[str] | None) -> None:
        from sklearn.preprocessing import OneHotEncoder

        for step, chosen in inner_steps(preparation):
            if isinstance(step, OneHotEncoder):
                for place, known in zip(chosen or range(rows.shape[1]), step.categories_, strict=True):
                    cells, seen = rows[:, place].tolist(), set(known.tolist())
                    unknown = [cell for cell in cells if cell == cell and cell not in seen]
                    name = str(place) if names is None else repr(names[place])
                    count, total, some = self.found.get(name, (0, 0, []))
                    some = list(dict.fromkeys([*some, *unknown[:1000]]))[:SHOWN]
                    self.found[name] = [count + len(unknown), total + len(cells), some]

    def sentences(self) -> Iterator[str]:
        """One about each column that holds some."""
        for name, (count, total, some) in self.found.items():
            if count:
                shown = ", ".join(map(repr, some))
                yield (
                    f"column {name}: {count:,} of {total:,} rows hold categories that the fit has not "
                    f"seen, such as {shown}; they count as none of those that it has"
                )


def scaling_of(preparation: Any) -> str | None:
    """The name of the scaler, if there is one."""
    names = [type(step).__name__ for step, _ in inner_steps(preparation)]
    return next((name for name in names if name.endswith("Scaler")), None)


def missing_cells(table: DataFile) -> dict[str, int]:
    """How many each column has."""
    rows = table.rows()
    return dict(zip(table.names or (), (rows != rows).sum(axis=0).tolist(), strict=True))


def report_of(table: DataFile, preparation: Any, missing: dict[str, int] | None = None) -> dict[str, Any]:
    """What was done with the columns, as plain values; `missing` cells of each, where they are counted already."""
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.preprocessing import OneHotEncoder

    names = table.names or ()
    found: dict[str, Any] = {"numbers": list(table.feature_names or ()), "categories": {}, "text": {}, "filled_in": {}}
    for step, chosen in inner_steps(preparation):
        if isinstance(step, OneHotEncoder):
            counts = [len(known) for known in step.categories_]
            found["categories"] = {names[place]: n for place, n in zip(chosen or (), counts, strict=True)}
        if isinstance(step, HashingVectorizer):
            found["text"][names[chosen]] = step.n_features
    if fills_in(preparation):
        missing = missing_cells(table) if missing is None else missing
        found["filled_in"] = {name: count for name, count in missing.items() if count}
    return found


def sentences_of(report: dict[str, Any]) -> Iterator[str]:
    """The same for people."""
    for name, count in report["categories"].items():
        yield f"  {name}: {counted(count, 'categories', 'category')}, a column for each"
    for name, count in report["text"].items():
        yield f"  {name}: text, its words hashed into {count:,} columns"
    for name, count in report["filled_in"].items():
        how = "most frequent category" if name in report["categories"] else "mean"
        yield f"  {name}: {counted(count, 'missing cells', 'missing cell')} filled in with the {how}"


def left_out_of(table: DataFile, classes: Sequence[Any]) -> dict[str, Any]:
    """What of the file a fit has not learnt from: columns and why, lines of rows that weigh nothing, their labels."""
    columns = {} if table.id_name is None else {table.id_name: "it names the rows"}
    columns |= dict.fromkeys(table.ignored, "as was asked")
    columns |= {} if table.queries is None else {"qid": "the groups of an SVMlight file are for rankings"}
    lines = [] if table.weights is None else table.lines[table.weights == 0.0].tolist()
    labels = [label for label in dict.fromkeys(table.y.tolist()) if label not in classes] if lines else []
    return {"columns": columns, "rows": lines, "labels": labels}


def sentences_of_left_out(left_out: dict[str, Any]) -> Iterator[str]:
    """The same for people."""
    for name, why in left_out["columns"].items():
        yield f"  left out: column {name!r}, {why}"
    if count := left_out.get("weightless"):
        yield f"  left out: {counted(count, 'rows', 'row')} of weight 0"
    if lines := left_out["rows"]:
        where = ", ".join(f"{line:,}" for line in lines[:SHOWN]) + (" ..." if len(lines) > SHOWN else "")
        yield f"  left out: {counted(len(lines), 'rows', 'row')} of weight 0, line {where}"
    for label in left_out["labels"]:
        yield f"  left out: the label {label!r}, which only rows of weight 0 have"


def scaling_for(kernel: str, asked: Scaling, table: DataFile) -> Scaling:
    """Values of a kernel stay as they are: scaled by columns they would be of no kernel."""
    if kernel != "precomputed":
        return asked
    if asked not in (Scaling.AUTO, Scaling.NONE):
        raise UserError(f"--scale {asked.value} is not for a precomputed kernel: its values are taken as they are")
    if table.texts:
        word = f"{table.name}: column {next(iter(table.texts))!r} holds words"
        raise UserError(f"{word}; a precomputed kernel is a table of numbers, a column for each row")
    return Scaling.NONE


def make_scaler(scaling: Scaling, X: Any) -> Any:
    """The scaler for these rows, not fitted; None where there is none."""
    from scipy.sparse import issparse
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    if scaling is Scaling.AUTO:
        scaling = Scaling.MAXABS if issparse(X) else Scaling.STANDARD
    if scaling is Scaling.MINMAX and issparse(X):
        raise UserError("minmax would turn the zeros of a sparse file into other numbers; maxabs keeps them")
    if scaling is Scaling.STANDARD:
        return StandardScaler(with_mean=not issparse(X))
    if scaling is Scaling.NONE:
        return None
    return MinMaxScaler() if scaling is Scaling.MINMAX else MaxAbsScaler()
