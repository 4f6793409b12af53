"""Random sparse tables, whatever SciPy calls its generator's keyword."""

import math

import scipy.sparse as sparse


def random_sparse(shape, density, random, form="csr", container=sparse.coo_array):
    """Entries uniform in [0, 1) at distinct random places."""
    places = random.choice(math.prod(shape), round(density * math.prod(shape)), replace=False)
    rows, columns = divmod(places, shape[1])
    return container((random.random(len(places)), (rows, columns)), shape).asformat(form)
