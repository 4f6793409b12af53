"""Kernels: each is a class, and known by its name as soon as it is registered (`base`)."""

from maxmargin.problems.kernels.base import KERNELS as KERNELS
from maxmargin.problems.kernels.base import Kernel as Kernel
from maxmargin.problems.kernels.base import KernelChoice as KernelChoice
from maxmargin.problems.kernels.base import Points as Points
from maxmargin.problems.kernels.base import register as register
from maxmargin.problems.kernels.base import rows_of as rows_of
from maxmargin.problems.kernels.base import spans as spans

# In the order in which sentences list their names.
# isort: off
from maxmargin.problems.kernels.product import Linear as Linear, Polynomial as Polynomial, Rbf as Rbf
from maxmargin.problems.kernels.laplacian import Laplacian as Laplacian
from maxmargin.problems.kernels.given import Function as Function, Precomputed as Precomputed
# isort: on

from maxmargin.problems.kernels.product import ProductKernel as ProductKernel

KernelName = str  # pickles of older versions name it
