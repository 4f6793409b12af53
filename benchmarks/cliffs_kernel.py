"""The cliffs of fits and predictions with a kernel; rbf with gamma 1 / (columns * variance), unless it is said.

The peer's answer is judged by `kernel_judge`, and ours is asked for the same gap, or for `LOOSEST` where the peer's is
wider: that is where our tolerances begin.
"""

from collections.abc import Iterator
from functools import partial

import kernel_sets
import numpy as np
from cliffs_data import Sets, clouds, images, text
from cliffs_race import HAS_INTELEX, Cliff, Race, status
from kernel_judge import judge
from kernel_peers import support_of
from memory_peak import peak, start_watching_the_peak

LOOSEST, TIGHTEST = 1e-2, 1e-7
CACHE = 2000  # MB, of the peers


def svc(X, y, C: float, gamma: float):
    from sklearn.svm import SVC

    return SVC(C=C, gamma=gamma, cache_size=CACHE).fit(X, y)


def intelex(X, y, C: float, gamma: float):
    import daal4py
    from sklearnex.svm import SVC

    daal4py.daalinit(1)
    return SVC(C=C, gamma=gamma, cache_size=CACHE).fit(X, y)


def kernel_svm(X, y, **parameters):
    from maxmargin import KernelSVM

    return KernelSVM(**parameters).fit(X, y)


def peers(X) -> dict:
    """The peers and the table in the form that suits them."""
    known = {"SVC": (svc, X.astype(np.float64, copy=False))}
    if HAS_INTELEX:
        known["intelex f32"] = (intelex, X.astype(np.float32, copy=False))
    return known


def fits(on: str, X, y, C: float, only: tuple[str, ...] = ("SVC", "intelex f32")) -> Iterator[Race]:
    """Against each peer, at its gap."""
    gamma = kernel_sets.scale_gamma(X)
    kernel_svm(*kernel_sets.a_few_rows(X, y), C=C, gamma=gamma)  # the compiler
    for name, (fit, table) in peers(X).items():
        if name not in only:
            continue
        found = support_of(fit(table, y, C, gamma))
        tol = float(np.clip(judge(X, y, gamma, C, *found).gap, TIGHTEST, LOOSEST))
        ours = partial(kernel_svm, X, y, C=C, gamma=gamma, tol=tol)
        yield Race(f"{on} {X.shape[0]} x {X.shape[1]}, C={C:g}", name, ours, partial(fit, table, y, C, gamma), proven)


def proven(model) -> str:
    """The certified gap, and what was asked."""
    certificate = model.certificate_
    gap = (certificate.primal - certificate.dual) / certificate.primal
    return f"gap {gap:.1e}, {status(model)}, {len(model.support_)} support vectors"


def rbf_on_text(sets: Sets) -> Iterator[Race]:
    if sets.folder is None:
        shapes = [(2000, 8000, 15)] if sets.short else [(5000, 8000, 15), (15000, 11000, 10), (8000, 20000, 100)]
        known = {f"text of {length} words": text(n, d, length) for n, d, length in shapes}
    else:
        known = {name: sets.load(name) for name in ("sms_spam", "reuters_r8", "news20_bydate")}
    for name, (X, y) in known.items():
        for C in (1.0,) if sets.short else (1.0, 100.0):
            for race in fits(name, X, y, C):
                yield race._replace(note=partial(memory_of, X, y, race.ours))


def memory_of(X, y, fit, model) -> str:
    """By how much the process grows in one more fit, beside the size of the data."""
    before = start_watching_the_peak()
    fit()
    size = (X.data.nbytes + X.indices.nbytes) / 2**20
    return f"{proven(model)}; grows by {(peak() - before) / 2**20:.0f} MB, the data have {size:.1f}"


def rbf_on_images(sets: Sets) -> Iterator[Race]:
    if sets.folder is None:
        known = {"images": images(3000 if sets.short else 20000)}
    else:
        known = {"mnist": sets.load("mnist", 20000)}
    for name, (X, y) in known.items():
        for C in (1.0,) if sets.short else (1.0, 100.0):
            yield from fits(name, X, y, C)


def one_versus_one(sets: Sets) -> Iterator[Race]:
    """The gap of a peer is the median over its pairs, as far as these can be judged: ours has its default."""
    if sets.folder is None:
        known = {"clouds, 10 classes": clouds(3000 if sets.short else 7494, 16, 10, 0.5)}
    else:
        known = {"usps": sets.classes("usps"), "letter_scale": sets.classes("letter_scale", 10000)}
    for name, (X, y) in known.items():
        gamma = kernel_sets.scale_gamma(X)
        kernel_svm(X, y, gamma=gamma)  # the compiler
        for C in (1.0, 100.0):
            ours = partial(kernel_svm, X, y, C=C, gamma=gamma)
            theirs = partial(svc, X.astype(np.float64), y, C, gamma)
            yield Race(f"{name}, {X.shape[0]} x {X.shape[1]}, C={C:g}", "SVC", ours, theirs)


def predictions(sets: Sets) -> Iterator[Race]:
    """20,000 rows, which need not be those that were learnt from."""
    if sets.folder is None:
        n = 2000 if sets.short else 6000
        known = {"clouds": clouds(n, 16, 2, 1.0), "10 classes": clouds(n, 16, 10, 0.5), "images": images(n)}
    else:
        known = {
            "magic04": sets.load("magic04"),
            "mnist": sets.load("mnist", 10000),
            "letter_scale, 26 classes": sets.classes("letter_scale", 10000),
            "sms_spam": sets.load("sms_spam"),
        }
    for name, (X, y) in known.items():
        gamma = kernel_sets.scale_gamma(X)
        again = np.arange(4000 if sets.short else 20000) % X.shape[0]
        model = kernel_svm(X, y, gamma=gamma)
        for peer, (fit, table) in peers(X).items():
            theirs = fit(table, y, 1.0, gamma)
            note = f"{len(model.support_)} support vectors"
            rows, peer_rows = X[again], table[again]
            yield Race(
                f"{name}, {len(again)} rows", peer, partial(model.predict, rows), partial(theirs.predict, peer_rows),
                lambda labels, theirs=theirs, rows=peer_rows, note=note:
                f"{note}; other labels: {np.sum(labels != theirs.predict(rows))}",
            )  # fmt: skip


def default_tol(sets: Sets) -> Iterator[Race]:
    """Ours at 1e-3 against ours at 1e-6."""
    if sets.folder is None:
        n = 3000 if sets.short else 20000
        known = {"clouds": clouds(n, 10, 2, 1.2), "images": images(n // 2)}
    else:
        names = ("svmguide1", "spam_kernlab", "usps", "magic04", "letter_scale", "covtype_20k", "a9a", "w8a", "ijcnn1")
        known = {name: sets.load(name) for name in (*names, "cod-rna")} | {"mnist_20k": sets.load("mnist", 20000)}
    for name, (X, y) in known.items():
        gamma = kernel_sets.scale_gamma(X)
        for C in (1.0,) if sets.short else (1.0, 100.0):
            ours, tight = (partial(kernel_svm, X, y, C=C, gamma=gamma, tol=tol) for tol in (1e-3, 1e-6))
            yield Race(f"{name}, C={C:g}", "ours at 1e-6", ours, tight, proven)


def many_support_vectors(sets: Sets) -> Iterator[Race]:
    if sets.folder is None:
        known = {"clouds, 10 % flipped": clouds(3000 if sets.short else 12000, 24, 2, 1.5, flipped=0.1)}
    else:
        known = {"covtype_20k": sets.load("covtype_20k"), "magic04": sets.load("magic04")}
    for name, (X, y) in known.items():
        yield from fits(name, X, y, 100.0)


def kernel_perceptron(sets: Sets) -> Iterator[Race]:
    """KernelPerceptron against KernelSVM."""
    from maxmargin import KernelPerceptron

    if sets.folder is None:
        X, y = images(2000 if sets.short else 10000)
    else:
        X, y = sets.load("mnist", 10000)
    gamma = kernel_sets.scale_gamma(X)
    ours = KernelPerceptron(kernel="rbf", gamma=gamma)
    yield Race(
        f"{X.shape[0]} x {X.shape[1]}", "KernelSVM", partial(ours.fit, X, y), partial(kernel_svm, X, y, gamma=gamma),
        lambda model: f"{status(model)}, {model.n_updates_} mistakes",
    )  # fmt: skip


CLIFFS = {
    "rbf_on_text": Cliff("3 SVC, 1 intelex", rbf_on_text),
    "rbf_on_images": Cliff("1.2", rbf_on_images),
    "one_versus_one": Cliff("2", one_versus_one),
    "predictions": Cliff("1", predictions),
    "default_tol": Cliff("0.91", default_tol),
    "many_support_vectors": Cliff("2", many_support_vectors),
    "kernel_perceptron": Cliff("1", kernel_perceptron),
}
