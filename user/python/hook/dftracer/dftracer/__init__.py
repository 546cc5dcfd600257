# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements DFTracer's names, so that code annotated for it emits Faultline's spans. On the path
only under `faultline run --python-spans dftracer`; writes no file, installs no signal handler."""
