# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""DFTracer's entities and relations: which code uses which data. Faultline sees the files
themselves, so these names have no effect."""

import enum

__all__ = ["EntityRelation", "EntityRole", "EntityStore"]


class EntityStore(enum.IntEnum):
    MEMORY = 0
    GPU_MEMORY = 1
    LOCAL_DISK = 2
    PARALLEL_FS = 3
    BURST_BUFFER = 4
    OBJECT_STORE = 5
    DATABASE = 6
    NETWORK = 7
    OTHER = 8


class EntityRole(enum.IntEnum):
    UNKNOWN = 0
    INPUT = 1
    OUTPUT = 2
    INTERMEDIATE = 3
    PARAMETER = 4
    REFERENCE = 5


class EntityRelation(enum.IntEnum):
    USED = 0
    GENERATED = 1
    INVALIDATED = 2
    UPDATED = 3
    DERIVED_FROM = 16
    REVISION_OF = 17
    CONTAINS = 18
    PART_OF = 19
    SPECIALIZATION_OF = 20
    ALTERNATE_OF = 21
    DEPENDS_ON = 22
