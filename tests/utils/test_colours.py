"""The colours stand out, for those too who do not see all of them."""

import numpy as np
import pytest

from deptriad.utils import colours


def luminance(colour):
    each = np.array([int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    linear = np.where(each <= 0.04045, each / 12.92, ((each + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_the_scale_only_gets_darker():
    steps = np.diff([luminance(colour) for colour in colours.SEQUENTIAL])
    assert (steps < 0).all()


@pytest.mark.parametrize(
    "roles, background", [(colours.ROLES, "#fbfaf7"), (colours.ROLES_ON_DARK, "#11141a")]
)
def test_marks_stand_out_from_their_background(roles, background):
    for colour in roles.values():
        low, high = sorted([luminance(colour), luminance(background)])
        assert (high + 0.05) / (low + 0.05) >= 3.0
