"""Rows of sixteen floats as machine vectors, for kernels that treat all lines of a betting round at once.

Every line of a betting round needs the same sums over opponent hands, so the solver keeps them side by side:
an array (hands, 16) of float32 whose rows are one vector register each. The compiler does not find that by
itself (rows may overlap for all it knows, which costs a factor of four), so these functions emit the vector
instructions directly. Arrays must be C-contiguous with rows of sixteen float32 and come from `aligned_rows`.

Showdowns in linear time: with hands sorted by rank, the opponent mass a hand beats is the running sum of
all weaker hands minus the running sums of its two cards (inclusion and exclusion; Johanson, Waugh, Bowling
and Zinkevich, "Accelerating Best Response Calculation in Large Extensive Games", IJCAI 2011).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

N_LANES = 16
ALL_CARDS = 52  # row of running totals; rows 0..51 are the totals of hands with that card
N_TOTALS = 53

_INT = ir.IntType(64)
_VECTOR = ir.VectorType(ir.FloatType(), N_LANES)
_ALIGN = 64
Rows = NDArray[np.float32]
_vector_function = cast(Callable[[Callable[..., Any]], Callable[..., Any]], intrinsic)


def aligned_rows(*shape: int) -> Rows:
    """Zeros (*shape, 16) whose rows start at multiples of 64 bytes."""
    size = int(np.prod(shape)) * N_LANES
    block = np.zeros(size + N_LANES, dtype=np.float32)
    first = (-block.ctypes.data % _ALIGN) // 4
    return block[first : first + size].reshape(*shape, N_LANES)


class _Frame:
    """Shorthand for writing vector code: rows of the arguments by position."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self.context, self.builder, self.signature, self.args = context, builder, signature, args

    def address(self, array: int, row: Any) -> Any:
        kind = self.signature.args[array]
        data = self.context.make_array(kind)(self.context, self.builder, self.args[array]).data
        first = self.builder.gep(data, [self.builder.mul(row, ir.Constant(_INT, N_LANES))])
        return self.builder.bitcast(first, _VECTOR.as_pointer())

    def load(self, array: int, row: Any) -> Any:
        return self.builder.load(self.address(array, row), align=_ALIGN)

    def store(self, value: Any, array: int, row: Any) -> None:
        self.builder.store(value, self.address(array, row), align=_ALIGN)

    def spread(self, scalar: Any) -> Any:
        one = self.builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
        mask = ir.Constant(ir.VectorType(ir.IntType(32), N_LANES), [0] * N_LANES)
        return self.builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), mask)

    def total(self, vector: Any) -> Any:
        """Sum of the lanes, by halves."""
        lanes = N_LANES
        while lanes > 1:
            half = lanes // 2
            kind = ir.VectorType(ir.IntType(32), half)
            low, high = ir.Constant(kind, list(range(half))), ir.Constant(kind, list(range(half, lanes)))
            vector = self.builder.fadd(
                self.builder.shuffle_vector(vector, vector, low), self.builder.shuffle_vector(vector, vector, high)
            )
            lanes = half
        return self.builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))

    def unblocked(self, totals: int, a: Any, b: Any) -> Any:
        """Running total of all hands minus those with card a or b."""
        everything = self.load(totals, ir.Constant(_INT, ALL_CARDS))
        return self.builder.fsub(self.builder.fsub(everything, self.load(totals, a)), self.load(totals, b))


def _vector_code(body: Callable[[_Frame], Any], returns: Any = types.void) -> Callable[..., tuple[Any, Any]]:
    def typed(*arguments: Any) -> tuple[Any, Any]:
        kinds = [types.int64 if isinstance(kind, types.Integer) else kind for kind in arguments]
        kinds = [types.float32 if isinstance(kind, types.Float) else kind for kind in kinds]

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            result = body(_Frame(context, builder, signature, args))
            return context.get_dummy_value() if result is None else result

        return returns(*kinds), generate

    return typed


def _scale_row(f: _Frame) -> None:
    f.store(f.builder.fmul(f.load(2, f.args[3]), f.spread(f.args[4])), 0, f.args[1])


def _add_scaled_row(f: _Frame) -> None:
    product = f.builder.fmul(f.load(2, f.args[3]), f.spread(f.args[4]))
    f.store(f.builder.fadd(f.load(0, f.args[1]), product), 0, f.args[1])


def _add_hand(f: _Frame) -> None:
    row = f.load(0, f.args[1])
    for total in (ir.Constant(_INT, ALL_CARDS), f.args[3], f.args[4]):
        f.store(f.builder.fadd(f.load(2, total), row), 2, total)


def _start_showdown(f: _Frame) -> None:
    f.store(f.unblocked(2, f.args[3], f.args[4]), 0, f.args[1])


def _add_showdown(f: _Frame) -> None:
    upto = f.builder.fadd(f.unblocked(3, f.args[4], f.args[5]), f.load(2, f.args[1]))
    f.store(f.builder.fadd(f.load(0, f.args[1]), upto), 0, f.args[1])


def _finish_showdown(f: _Frame) -> None:
    everyone = f.builder.fadd(f.unblocked(2, f.args[3], f.args[4]), f.load(1, f.args[5]))
    f.store(f.builder.fsub(f.load(0, f.args[5]), everyone), 0, f.args[5])
    f.store(everyone, 1, f.args[5])


def _finish_fold(f: _Frame) -> None:
    f.store(f.builder.fadd(f.unblocked(1, f.args[2], f.args[3]), f.load(0, f.args[4])), 0, f.args[4])


def _dot_add(f: _Frame) -> Any:
    """Dot product of out-of-table row with coefficients; the row is also added to a sum."""
    row = f.load(0, f.args[1])
    f.store(f.builder.fadd(f.load(4, f.args[3]), row), 4, f.args[3])
    return f.total(f.builder.fmul(row, f.load(2, f.args[3])))


@_vector_function
def scale_row(context: Any, out: Any, i: Any, table: Any, j: Any, factor: Any) -> Any:
    """out[i] = table[j] * factor"""  # noqa: D400
    return _vector_code(_scale_row)(out, i, table, j, factor)


@_vector_function
def add_scaled_row(context: Any, out: Any, i: Any, table: Any, j: Any, factor: Any) -> Any:
    """out[i] += table[j] * factor"""  # noqa: D400
    return _vector_code(_add_scaled_row)(out, i, table, j, factor)


@_vector_function
def add_hand(context: Any, lanes: Any, h: Any, totals: Any, a: Any, b: Any) -> Any:
    """Add row h of a hand with cards a and b to the running totals."""
    return _vector_code(_add_hand)(lanes, h, totals, a, b)


@_vector_function
def start_showdown(context: Any, won: Any, h: Any, totals: Any, a: Any, b: Any) -> Any:
    """won[h] = mass of the hands so far that share no card with (a, b)"""  # noqa: D400
    return _vector_code(_start_showdown)(won, h, totals, a, b)


@_vector_function
def add_showdown(context: Any, won: Any, h: Any, lanes: Any, totals: Any, a: Any, b: Any) -> Any:
    """won[h] += mass of the hands so far, ties now included, that share no card with (a, b)"""  # noqa: D400
    return _vector_code(_add_showdown)(won, h, lanes, totals, a, b)


@_vector_function
def finish_showdown(context: Any, won: Any, lanes: Any, totals: Any, a: Any, b: Any, h: Any) -> Any:
    """lanes[h] = mass of all hands that share no card; won[h] -= that, leaving wins minus losses"""  # noqa: D400
    return _vector_code(_finish_showdown)(won, lanes, totals, a, b, h)


@_vector_function
def finish_fold(context: Any, lanes: Any, totals: Any, a: Any, b: Any, h: Any) -> Any:
    """lanes[h] = mass of all hands that share no card with (a, b)"""  # noqa: D400
    return _vector_code(_finish_fold)(lanes, totals, a, b, h)


@_vector_function
def dot_add(context: Any, rows: Any, h: Any, coefficients: Any, b: Any, sums: Any) -> Any:
    """Product of rows[h] and coefficients[b]; rows[h] is added to sums[b]."""
    return _vector_code(_dot_add, types.float32)(rows, h, coefficients, b, sums)
