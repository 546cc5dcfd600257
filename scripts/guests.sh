#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Boots the oldest and the newest kernels within a time limit. Fails if a check fails there; reports
# what is unavailable (a package, a kernel, a boot, time) as skipped.
#
# usage: guests.sh SECONDS   (time limit; run after `make programs`)
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."
. scripts/within.sh

kernels='5.10 6.1 7.2'
jobs='--only refused --only calls --only fault-chosen --only stack-chosen'
jobs+=' --only nfs-chosen-v3 --only fuse-chosen-served' # in one line: make gets them
least=120 # minimum, in seconds
rest=20   # seconds reserved for stopping processes that hang

within $least "$@"
[ "$(uname -m)" = x86_64 ] || skip "no kernels are named for $(uname -m)"

# When interrupted, apt stops fetching and finishes what it is installing.
echo "==> Packages for guests"
timeout -s INT -k 60 $(($1 / 2)) scripts/setup.sh vm || skip "packages are missing"

left=$(($1 - SECONDS - rest))
[ $left -gt $rest ] || skip "no time is left"
echo "==> Guests: make vmtest, at most $left s"
output=$(mktemp)
trap 'rm -f "$output"' EXIT
timeout -s INT -k $((rest / 2)) $left \
	make -s vmtest VM="$kernels" VMFLAGS="--within $left --quick --parallel 2 $jobs" \
	2>&1 </dev/null | tee "$output" && exit 0
if grep -q ' FAIL: ' "$output"; then
	echo "guests.sh: checks fail on another kernel" >&2
	exit 1
fi
skip "the guests did not finish"
