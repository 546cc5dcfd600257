#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Boots the oldest and the newest kernels for as long as there is time. Fails when something was
# compared there and is wrong; what cannot be had (a package, a kernel, a boot, the time) is told as
# skipped. Must not know what is compared, nor how a guest is made.
#
# usage: guests.sh SECONDS   (to be done in; `make programs` was run before)
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."
. scripts/within.sh

kernels='5.10 6.1 7.2'
jobs='--only refused --only calls --only fault-chosen'
least=120 # seconds below which it is not worth beginning
rest=20   # for ending what does not end by itself

within $least "$@"
[ "$(uname -m)" = x86_64 ] || skip "no kernels are named for $(uname -m)"

# Interrupted, apt stops fetching and ends what it is installing.
echo "==> Packages: what guests need"
timeout -s INT -k 60 $(($1 / 2)) scripts/setup.sh vm || skip "packages are missing"

left=$(($1 - SECONDS - rest))
[ $left -gt $rest ] || skip "no time is left"
echo "==> Guests: make vmtest, for $left s at most"
said=$(mktemp)
trap 'rm -f "$said"' EXIT
timeout -s INT -k $((rest / 2)) $left \
	make -s vmtest VM="$kernels" VMFLAGS="--within $left --quick --parallel 2 $jobs" \
	2>&1 </dev/null | tee "$said" && exit 0
if grep -q ' FAIL: ' "$said"; then
	echo "guests.sh: Faultline is wrong on another kernel" >&2
	exit 1
fi
skip "the guests did not come to their end"
