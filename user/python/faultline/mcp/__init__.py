# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A Model Context Protocol server over traces: `faultline mcp`, or `python3 -m faultline.mcp`.

It runs the program `faultline` and answers with its reports. It must use only the standard library.
"""
