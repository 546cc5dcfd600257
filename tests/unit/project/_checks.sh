# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Sourced by tests that list all that is wrong, and exit with $failed: they run in the top directory,
# with a directory, $directory, of their own.
set -uo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../../.." || exit 1

BUILD=$(realpath "${BUILD:-build}")
FAULTLINE=${FAULTLINE:-$BUILD/faultline}
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
failed=0

complain() {
	echo "$*"
	failed=1
}
