#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Checks the pages' scripts with eslint, and the pages with tidy.
set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../../.." || exit 1

FAULTLINE=${FAULTLINE:-$PWD/build/faultline}
BUILD=${BUILD:-build}
PYTHON=${PYTHON:-python3}
html=user/output/html
monitor=user/monitor/page
for program in eslint tidy; do
	command -v "$program" >/dev/null || { echo "$program is not installed"; exit 77; }
done
page=$(mktemp --suffix=.html)
trap 'rm -f "$page"' EXIT
failed=0

# lint FILE...: as one program, which is what they are on the page: what one file has the others may
# use.
lint() {
	cat "$@" | NODE_PATH=/usr/share/nodejs eslint -f unix --no-eslintrc -c "$html/.eslintrc.json" \
		--stdin --stdin-filename page.js || failed=1
}
mapfile -t programs < <(find "$html" -name '*.js' ! -name main.js | sort)
lint "${programs[@]}" "$html/main.js"
mapfile -t programs < <(find "$monitor" -name '*.js' ! -name main.js | sort)
lint "$html/shared/format.js" "$html/shared/element.js" "${programs[@]}" "$monitor/main.js"

# that_is_alone PAGE: well-formed, and refers to nothing outside.
that_is_alone() {
	tidy -q -e "$1" || failed=1
	if grep -oE "(src|href)=\"[^\"#]*\"|url\([^)]*\)|@import" "$1" |
		grep -vE 'href="(data:,|jobs|metrics)"'; then
		echo "$1 refers to something else"
		failed=1
	fi
}

"$FAULTLINE" report --html "$page" tests/golden/sample.flt || failed=1
that_is_alone "$page"
grep -q "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'" "$page" || {
	echo "the page has no policy"
	failed=1
}

# The page calls a straggler what the finding does.
of_finding=$(sed -nE 's/^THRESHOLD_MIN\(IMBALANCE, ([0-9.]+),.*/\1/p' user/analysis/rules/ranks/ranks.c)
of_page=$(sed -nE 's/^const IMBALANCE = ([0-9.]+);$/\1/p' "$html/ranks.js")
more=$("$PYTHON" -c "print(round(100 * ${of_finding:-0} / (1 - ${of_finding:-0})))")
if [ "$of_finding" != "$of_page" ] || ! grep -q "I/O takes at least $more% longer" user/output/base/terms.c; then
	echo "the page marks stragglers from '$of_page' on, the finding from '$of_finding' ($more%)"
	failed=1
fi

# What is served, out of the source that it becomes.
bytes=$(sed -n '/monitor_page\[\] = {/,/};/p' "$BUILD/monitor_page.c" | grep -oE '\b[0-9]+\b' | head -n -1)
# shellcheck disable=SC2086,SC2059
printf "$(printf '\\x%02x' $bytes)" >"$page"
that_is_alone "$page"
exit $failed
