# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Values with a type for DFTracer's file format. Here only the value matters."""

from __future__ import annotations

import enum
from typing import Any, Callable, Dict, Tuple

__all__ = ["TagDType", "TagType", "TagValue"]


class TagType(enum.IntEnum):
    KEY = 0
    VALUE = 1
    IGNORE = 2


class TagDType(enum.IntEnum):
    INT = 0
    FLOAT = 1
    STRING = 2


_TYPES: Dict[int, Callable[[Any], Any]] = {TagDType.INT: int, TagDType.FLOAT: float}


class TagValue:
    def __init__(self, value: Any, dtype: TagDType = TagDType.STRING,
                 tag_type: TagType = TagType.KEY) -> None:
        self._dtype, self._tag_type = dtype, tag_type
        self._value = _TYPES.get(dtype, str)(value)

    def value(self) -> Tuple[int, Any]:
        return int(self._tag_type), self._value


def plain(value: Any) -> Any:
    """Returns the value of a tag, or of the pair that its value() returns."""
    if isinstance(value, TagValue):
        return value._value
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], int):
        return value[1]
    return value
