"""Equity of every starting hand against one random hand, and of every class against every other, before the flop.

Exact: all 134,459 canonical boards with their multiplicities, every pair of disjoint hole hands on each, ties
counting half (AA .852037, 72o .345836 and so on). The mean over all 1,326 hands is one half,
because every meeting of two hands is counted from both sides.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hardbot.game.cards import HOLE_CLASS

# Rows and columns A K Q ... 2: suited hands above the diagonal, offsuit hands below it.
_TEXT = """
.8520371 .6704463 .6620886 .6539268 .6460239 .6278121 .6194381 .6098396 .5990583 .5992293 .5903364 .5822032 .5737890
.6532007 .8239568 .6340040 .6256734 .6178856 .5998848 .5831235 .5753774 .5664074 .5579292 .5488464 .5405498 .5321173
.6443184 .6145580 .7992516 .6025921 .5946756 .5766432 .5601773 .5430226 .5361257 .5276941 .5185530 .5101925 .5016904
.6356326 .6056869 .5813469 .7746947 .5752786 .5566247 .5401564 .5232478 .5060591 .4998685 .4907045 .4823162 .4737815
.6272165 .5973892 .5729078 .5524770 .7501178 .5402753 .5233437 .5063904 .4894068 .4721626 .4653049 .4569251 .4483948
.6077281 .5781192 .5536043 .5325120 .5153167 .7205725 .5080076 .4911773 .4742829 .4572187 .4386197 .4326426 .4241517
.5987261 .5602017 .5359979 .5149016 .4972127 .4809703 .6916304 .4793634 .4624327 .4454499 .4270163 .4087350 .4027163
.5884120 .5518735 .5176567 .4968193 .4790814 .4629781 .4505081 .6623602 .4537177 .4367554 .4184931 .4003594 .3815589
.5768245 .5422328 .5102405 .4784427 .4609200 .4449135 .4324090 .4232275 .6328475 .4313339 .4133332 .3953356 .3766896
.5769653 .5331397 .5012008 .4718089 .4425095 .4266914 .4142753 .4051197 .3994430 .6032492 .4145342 .3969296 .3784933
.5672968 .5232747 .4912768 .4618638 .4350411 .4067105 .3944679 .3854983 .3801049 .3815529 .5702282 .3864195 .3682901
.5584460 .5142569 .4821944 .4527554 .4259455 .4001951 .3748381 .3660226 .3607763 .3626477 .3514589 .5369308 .3598443
.5492856 .5050872 .4729544 .4434847 .4166835 .3909794 .3682767 .3458365 .3407514 .3428465 .3319975 .3230323 .5033402
"""

CLASS_EQUITY: NDArray[np.float64] = np.array(_TEXT.split(), dtype=np.float64)  # (169,) by cell of the 13x13 square
CLASS_EQUITY.setflags(write=False)
HOLE_EQUITY: NDArray[np.float64] = CLASS_EQUITY[HOLE_CLASS]  # (1326,)
HOLE_EQUITY.setflags(write=False)


@lru_cache(maxsize=1)
def class_equities() -> NDArray[np.float64]:
    """Equity (169, 169) of the row's class against the column's, over all boards and all disjoint pairs of hands."""
    with np.load(Path(__file__).with_name("preflop_equity.npz"), allow_pickle=False) as arrays:
        found: NDArray[np.float64] = arrays["equity"].astype(np.float64)
    found.setflags(write=False)
    return found
