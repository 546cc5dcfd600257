#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The programs of the page by eslint, the page itself by tidy. Knows nothing of what they do.
set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit 1

FAULTLINE=${FAULTLINE:-$PWD/build/faultline}
html=user/output/html
for program in eslint tidy; do
	command -v "$program" >/dev/null || { echo "$program is not installed"; exit 77; }
done
page=$(mktemp --suffix=.html)
trap 'rm -f "$page"' EXIT
failed=0

# As one program, which is what they are on the page: what one file has the others may use.
programs=$(find "$html" -name '*.js' ! -name main.js | sort)
# shellcheck disable=SC2086
cat $programs "$html/main.js" | NODE_PATH=/usr/share/nodejs eslint -f unix --no-eslintrc \
	-c "$html/.eslintrc.json" --stdin --stdin-filename page.js || failed=1

"$FAULTLINE" report --html "$page" tests/golden/sample.flt || failed=1
tidy -q -e "$page" || failed=1
grep -q "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'" "$page" || {
	echo "the page has no policy"
	failed=1
}
# It asks nobody for anything: no reference to anything outside of it.
if grep -oE "(src|href)=\"[^\"#]*\"|url\([^)]*\)|@import" "$page" | grep -v 'href="data:,"'; then
	echo "the page refers to something else"
	failed=1
fi
exit $failed
