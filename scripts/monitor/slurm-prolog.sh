#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Prolog of Slurm (slurm.conf: Prolog=...), as root on each node before a job: sees that faultline
# monitor watches, and has it started if it does not. Whatever comes of it, the job is started: this
# always ends with 0, for a prolog that fails drains the node.
#
# FAULTLINE_URL   where the monitor answers (http://127.0.0.1:9918)
set -uo pipefail

url=${FAULTLINE_URL:-http://127.0.0.1:9918}

if ! curl -fsS --max-time 5 -o /dev/null "$url/readyz" 2>/dev/null; then
	logger -t faultline "job ${SLURM_JOB_ID:-?}: the monitor is not ready; starting it" 2>/dev/null
	systemctl --no-block start faultline-monitor 2>/dev/null
fi
exit 0
