#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Slurm prolog (slurm.conf: Prolog=...), run as root on each node before a job: checks that faultline
# monitor is watching, and starts it if not. Always exits with 0, because a failing prolog drains the
# node.
#
# FAULTLINE_URL   address of the monitor (http://127.0.0.1:9918)
set -uo pipefail

url=${FAULTLINE_URL:-http://127.0.0.1:9918}

if ! curl -fsS --max-time 5 -o /dev/null "$url/readyz" 2>/dev/null; then
	logger -t faultline "job ${SLURM_JOB_ID:-?}: the monitor is not ready; starting it" 2>/dev/null
	systemctl --no-block start faultline-monitor 2>/dev/null
fi
exit 0
