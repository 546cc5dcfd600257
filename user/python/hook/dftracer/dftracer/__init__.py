# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Answers to DFTracer's names, so that code annotated for it emits Faultline's spans. On the path
below `faultline run --python-spans dftracer` alone; writes no file, installs no signal handler."""
