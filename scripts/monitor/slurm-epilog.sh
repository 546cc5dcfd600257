#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Slurm epilog (slurm.conf: Epilog=...), run as root on each node after a job: saves faultline
# monitor's numbers for the job, by step, as JSON for the job's user. Always exits with 0, because a
# failing epilog drains the node.
#
# FAULTLINE_URL   address of the monitor (http://127.0.0.1:9918)
# FAULTLINE_KEEP  directory for JOB.HOST.json, readable by the job's user (/var/log/faultline); if it
#                 exists, it must belong to root and be writable by root only
set -uo pipefail

url=${FAULTLINE_URL:-http://127.0.0.1:9918}
keep=${FAULTLINE_KEEP:-/var/log/faultline}
job=${SLURM_JOB_ID:-}

[[ $job =~ ^[0-9]+$ ]] || exit 0
umask 077
[ -d "$keep" ] || mkdir -p -m 711 "$keep" || exit 0
# Others could plant a link there, which root would write through.
if [ -z "$(find -H "$keep" -maxdepth 0 -type d -uid "$(id -u)" ! -perm /022)" ]; then
	logger -t faultline "job $job: cannot save its numbers: others may write to $keep" 2>/dev/null
	exit 0
fi
file=$keep/$job.$(hostname -s).json
# Written to a temporary file and renamed, so that no reader sees a partial file.
if curl -fsS --max-time 10 -o "$file.part" "$url/jobs?slurm_job=$job&jobs=4096&files=48&processes=0" &&
	chown "${SLURM_JOB_UID:-0}" "$file.part" && chmod 400 "$file.part" && mv -f "$file.part" "$file"; then
	exit 0
fi
rm -f "$file.part"
logger -t faultline "job $job: cannot save its numbers to $keep" 2>/dev/null
exit 0
