# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements DFTracer's API, so that code annotated for it emits Faultline spans. On the path only
under `faultline run --python-spans dftracer`; writes no files and installs no signal handlers."""
