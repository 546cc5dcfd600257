#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# From a fresh clone to a first report: installs missing packages, builds, makes a data set, runs a
# training job's loader on it with a cold cache under faultline, and prints the report.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."

. scripts/owner.sh
build=${BUILD:-build}
data_mib=${DEMO_MIB:-384}
directory=

say() {
	echo
	echo "==> $*"
}

fail() {
	echo "demo.sh: $*" >&2
	exit 1
}

clean_up() {
	[ -z "$directory" ] || rm -rf "$directory"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

resident() {
	fincore --bytes --noheadings --output RES "$1" | tr -d ' '
}

# Writes a file's pages to storage and evicts them, for this file only.
cool() {
	sync "$1" && dd if="$1" iflag=nocache count=0 status=none
}

# Finds a directory whose files are on storage, not only in memory (tmpfs, an overlay on it), so that
# their pages can be evicted. Sets `directory` to a new directory in it.
choose_directory() {
	local top
	for top in "${TMPDIR:-/var/tmp}" /var/tmp /tmp "$PWD" "$HOME"; do
		[ -w "$top" ] || continue
		[ "$(df --output=avail -m "$top" | tail -n 1)" -gt $((data_mib * 2)) ] || continue
		directory=$(mktemp -d "$top/faultline-demo.XXXXXX") || continue
		head -c 1M /dev/urandom >"$directory/probe" && cool "$directory/probe"
		[ "$(resident "$directory/probe")" != 0 ] || return 0
		clean_up
		directory=
	done
	fail "no writable directory on a real file system with $((data_mib * 2)) MiB free; set TMPDIR"
}

as_root=() reads_as=
if [ "$(id -u)" != 0 ]; then
	sudo -v 2>/dev/null || fail "tracing requires root; run this as root"
	as_root=(sudo)
elif [ -n "${SUDO_UID:-}" ] && [ ${#owner[@]} = 0 ]; then
	# Root owns everything: the job must read root's files and write its trace to root's build directory.
	unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND
	reads_as="sudo "
fi

say "Packages for building and for a Python loader"
scripts/setup.sh build demo || fail "packages are missing"

say "Build: make"
"${owner[@]}" make -j"$(nproc)" || fail "the build failed"
"${as_root[@]}" "$build/faultline" check >/dev/null ||
	fail "this kernel or these privileges do not allow tracing; sudo $build/faultline check says why"

choose_directory
[ ${#owner[@]} = 0 ] || chown "$SUDO_UID:$SUDO_GID" "$directory"
tokens=$directory/tokens.bin
trace=$build/demo.flt
say "Data: $data_mib MiB of 16-bit tokens in $tokens ($(stat -f -c %T "$directory")), evicted from memory"
head -c "${data_mib}M" /dev/urandom >"$tokens"
cool "$tokens"
before=$(resident "$tokens")

loader=(/usr/bin/python3 scripts/demo_loader.py "$tokens")
say "Job: faultline run -o $trace --force -- ${loader[*]}"
"${as_root[@]}" "$build/faultline" run -o "$trace" --force -- "${loader[@]}" ||
	fail "the traced job ended with exit status $?"
after=$(resident "$tokens")

say "Report: faultline report --top 10 $trace"
"$build/faultline" report --top 10 "$trace" || fail "the report failed"

say "In short"
"$build/faultline" report --format json "$trace" >"$directory/report.json" || fail "the report failed"
/usr/bin/python3 - "$directory/report.json" "$tokens" "$before" "$after" <<'PYTHON' ||
import json, sys
report, path, before, after = json.load(open(sys.argv[1])), *sys.argv[2:]
MIB = 2**20
row = next((row for row in report["files"] or [] if row["path"] == path), None)
if not row or not row["mmap"] or not row["mmap"]["fetched_bytes"]:
    sys.exit(f"the report shows no page faults on {path}")
mmap, lost = row["mmap"], report["trace"]["lost"]["total"]
print(f"""\
{path}:
  through memory  {mmap["fetched_bytes"] / MIB:8.1f} MiB in {mmap["faults"]:,} page faults \
({mmap["major"]:,} major), {mmap["time_ns"] / 1e9:.2f} s of waiting
  through read()  {row["read"]["bytes"] / MIB:8.1f} MiB: all that a system call tracer sees
  page cache      {(int(after) - int(before)) / MIB:8.1f} MiB more than before the job, by \
fincore(1)
Events lost: {lost}.""")
PYTHON
	fail "the report does not show the file that the job read"
echo "The trace is in $trace; try ${reads_as}$build/faultline print $trace, $build/faultline report --help."
