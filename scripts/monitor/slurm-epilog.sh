#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Epilog of Slurm (slurm.conf: Epilog=...), as root on each node after a job: keeps what faultline
# monitor knows of it, each of its steps, as JSON for the user of the job. Always ends with 0, for an
# epilog that fails drains the node.
#
# FAULTLINE_URL   where the monitor answers (http://127.0.0.1:9918)
# FAULTLINE_KEEP  where it is kept (/var/log/faultline): JOB.HOST.json, readable by the job's user
set -uo pipefail

url=${FAULTLINE_URL:-http://127.0.0.1:9918}
keep=${FAULTLINE_KEEP:-/var/log/faultline}
job=${SLURM_JOB_ID:-}

[[ $job =~ ^[0-9]+$ ]] || exit 0
umask 077
mkdir -p "$keep" && chmod 711 "$keep" || exit 0
file=$keep/$job.$(hostname -s).json
# Written beside it and renamed: nobody reads a part of it.
if curl -fsS --max-time 10 -o "$file.part" "$url/jobs?slurm_job=$job&jobs=4096&files=48&processes=0" &&
	chown "${SLURM_JOB_UID:-0}" "$file.part" && chmod 400 "$file.part" && mv -f "$file.part" "$file"; then
	exit 0
fi
rm -f "$file.part"
logger -t faultline "job $job: its numbers could not be kept in $keep" 2>/dev/null
exit 0
