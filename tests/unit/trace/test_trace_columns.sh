#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Traces with one damaged column: what one pass over a trace accepts, the next must accept, too.
# Only blocks of spans, which pictures of a page read once more, and of summaries, whose tables name
# each other's rows; `make fuzz` damages all.
set -euo pipefail

fuzz=${FUZZ:-$BUILD/fuzz}
# Another test makes the same.
flock "$BUILD/fuzz.lock" make -s -j"$(nproc)" BUILD="$BUILD" FUZZ="$fuzz" "$fuzz/fuzz_reader"
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
"$BUILD/faultline" summarize -o "$directory/summary.flt" tests/golden/spans.flt
"$PYTHON" tests/fuzz/damage_columns.py --reader "$fuzz/fuzz_reader" --block span_ \
	tests/golden/spans.flt
"$PYTHON" tests/fuzz/damage_columns.py --reader "$fuzz/fuzz_reader" --block summary_ \
	"$directory/summary.flt"
