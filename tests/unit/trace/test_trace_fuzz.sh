#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# A bounded run of the reader of traces, the report and the exports under libFuzzer: always the same
# inputs, from fresh seeds. `make fuzz` goes on from what earlier runs found; this does not.
set -euo pipefail

fuzz=${FUZZ:-$BUILD/fuzz} made=$BUILD/fuzz
# Another test makes the same.
flock "$BUILD/fuzz.lock" make -s -j"$(nproc)" BUILD="$BUILD" FUZZ="$fuzz" "$fuzz/fuzz_reader" "$made/make_seeds"
# This becomes the fuzzer, so that ending the test ends it too.
seeds=$made/test_seeds
rm -rf "$seeds" && mkdir "$seeds"
"$made/make_seeds" "$seeds"
# What libFuzzer ends with by itself (77) means that a test is skipped.
exec "$fuzz/fuzz_reader" -seed=1 -runs=600 -max_len=16384 -rss_limit_mb=2048 -timeout=60 \
	-error_exitcode=1 -timeout_exitcode=1 \
	-dict=tests/fuzz/reader.dict -artifact_prefix="$made/" "$seeds"
