"""Income rates of starting hands for tables of two, up to four and more players, and poki's thresholds on them.

An income rate is the profit per 1,000 bets when everybody calls one bet and all cards are turned up: with n hands
dealt, 1000 * (n * P(win) - 1), ties shared. Two players: from the exact equities (AA 704, 32o -354). Four and
seven: a roll-out of 12 million deals each (standard error below 5); seven stands for every larger table, whose order
of hands hardly differs (D. Papp, "Dealing with Imperfect Information in Poker", University of Alberta, 1998,
appendix A: AA 2043 with seven players, 88 classes not negative; here 2052 and 89).

Thresholds are base + increment * position, position = players who will act later on the following streets. The
two-player row is the published loose setting (FACTS section 3); the other rows are ours, after the published
example of four players (Make1 50, Make2 200, Make4 580 on the button).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hardbot.game.cards import HOLE_CLASS, N_HOLES
from hardbot.game.preflop import CLASS_EQUITY

# Rows and columns A K Q ... 2: suited hands above the diagonal, offsuit hands below it.
_FOUR = """
    1550 657 595 551 488 378 340 301 248 272 236 211 175
    545 1330 528 464 425 312 229 192 162 121 99 74 43
    474 408 1138 424 385 273 186 109 80 53 17 -1 -31
    409 346 306 966 355 251 158 89 13 -8 -43 -68 -92
    359 294 254 225 803 236 151 75 -8 -77 -89 -113 -143
    237 181 133 114 108 652 143 64 -7 -73 -148 -162 -187
    194 83 46 26 16 0 508 64 -4 -71 -130 -210 -224
    149 47 -43 -67 -72 -79 -77 382 -1 -59 -127 -206 -258
    104 10 -73 -141 -152 -158 -152 -140 265 -63 -113 -176 -251
    124 -26 -103 -169 -228 -236 -224 -212 -202 147 -95 -152 -222
    84 -60 -137 -201 -249 -308 -300 -286 -272 -244 51 -181 -239
    52 -87 -165 -228 -282 -327 -374 -364 -344 -313 -341 -38 -275
    19 -119 -193 -260 -306 -355 -396 -430 -412 -384 -408 -440 -118
"""
_SEVEN = """
    2052 942 812 720 635 478 415 368 320 367 327 302 265
    706 1616 756 674 605 418 319 257 218 192 159 143 119
    572 522 1274 632 559 394 265 164 123 102 82 59 40
    469 420 383 1001 534 372 264 146 52 34 3 -17 -38
    381 342 304 302 761 372 264 160 63 -22 -53 -67 -88
    195 149 118 116 133 564 242 154 65 -24 -110 -127 -143
    131 19 -10 -14 3 -10 419 162 89 5 -84 -164 -184
    72 -26 -125 -129 -116 -104 -90 303 106 36 -53 -132 -217
    23 -72 -162 -235 -216 -206 -177 -146 205 61 -9 -94 -181
    67 -103 -196 -258 -311 -305 -272 -226 -200 126 29 -36 -119
    34 -136 -224 -286 -335 -390 -364 -323 -279 -230 69 -76 -146
    2 -163 -246 -312 -357 -416 -454 -417 -369 -305 -347 19 -180
    -37 -190 -272 -337 -379 -437 -472 -495 -461 -395 -423 -462 -7
"""


def _rates(text: str) -> NDArray[np.float64]:
    return np.array(text.split(), dtype=np.float64)


CLASS_INCOME: NDArray[np.float64] = np.stack(
    [1000.0 * (2.0 * CLASS_EQUITY - 1.0), _rates(_FOUR), _rates(_SEVEN)]
)  # (3, 169) two players, up to four, more
INCOME: NDArray[np.float64] = np.ascontiguousarray(CLASS_INCOME[:, HOLE_CLASS])  # (3, 1326)
THRESHOLDS: NDArray[np.float64] = np.array(
    [
        [[-50, 50], [0, 0], [300, 0]],
        [[50, 50], [200, 50], [580, 0]],
        [[0, 70], [450, 50], [900, 0]],
    ],
    dtype=np.float64,
)  # (3 groups, Make1 Make2 Make4, base increment)


def _percentiles(rates: NDArray[np.float64]) -> NDArray[np.float32]:
    """Share of all hole hands that a hand outranks, equals counting half (1326,)."""
    order = np.sort(rates)
    below = np.searchsorted(order, rates, side="left") + np.searchsorted(order, rates, side="right")
    return (below / (2.0 * N_HOLES)).astype(np.float32)


INCOME_PERCENTILE: NDArray[np.float32] = np.stack([_percentiles(row) for row in INCOME])  # (3, 1326)
for _table in (CLASS_INCOME, INCOME, THRESHOLDS, INCOME_PERCENTILE):
    _table.setflags(write=False)
