# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dftracer.python: functions, blocks and loops marked as spans, under DFTracer's names."""

from ._ai import AI, DFTracerAI, ai, checkpoint, comm, compute, data, dataloader, device, pipeline
from ._logger import DFTRACER_ENABLE, dft_fn, dftracer
from ._tags import TagDType, TagType, TagValue

__all__ = ["AI", "DFTRACER_ENABLE", "DFTracerAI", "TagDType", "TagType", "TagValue", "ai",
           "checkpoint", "comm", "compute", "data", "dataloader", "device", "dft_fn", "dftracer",
           "pipeline"]
