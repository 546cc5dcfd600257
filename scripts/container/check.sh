#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Builds the image of the last commit on a fresh Debian with buildah, without daemon and registry, and
# runs it. Needs root and the network; exits with 77 if buildah or Debian is not available.
#
# usage: check.sh VERSION   (make image-check)
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

fail() {
	echo "check.sh: $*" >&2
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

[ $# = 1 ] || fail "usage: check.sh VERSION"
command -v buildah >/dev/null || skip "buildah is not installed (scripts/setup.sh image)"
directory=$(mktemp -d --tmpdir=/var/tmp faultline-image.XXXXXX)
trap 'rm -rf --one-file-system "$directory"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# A storage of our own, which is removed.
images() {
	buildah --root "$directory/storage" --runroot "$directory/run" --storage-driver vfs "$@" </dev/null
}

# With the capabilities of scripts/monitor/kubernetes.yaml. Debian's own profile for seccomp allows bpf()
# only with CAP_SYS_ADMIN.
inside() {
	images run --isolation chroot --cap-add CAP_BPF --cap-add CAP_PERFMON --cap-add CAP_SYS_PTRACE \
		--cap-add CAP_DAC_READ_SEARCH "$container" -- "$@"
}

mkdir "$directory/base" "$directory/source"
mmdebstrap --quiet --variant=minbase bookworm "$directory/base/root.tar" \
	"${MIRROR:-http://deb.debian.org/debian}" >"$directory/log" 2>&1 ||
	skip "no fresh Debian is available: $(tail -n 1 "$directory/log")"
printf 'FROM scratch\nADD root.tar /\n' >"$directory/base/Dockerfile"
git archive HEAD | tar -x -C "$directory/source"
images bud --quiet -t base "$directory/base" >"$directory/log" 2>&1 || fail "$(tail -n 5 "$directory/log")"
images bud --isolation chroot --network host --build-arg BASE=localhost/base -t faultline:"$1" \
	-f "$directory/source/scripts/container/Dockerfile" "$directory/source" >"$directory/log" 2>&1 ||
	fail "the image cannot be built: $(tail -n 15 "$directory/log")"

container=$(images from --pull-never --security-opt seccomp=unconfined faultline:"$1")
started=$(images inspect --format '{{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.Cmd}}' "$container")
[ "$started" = "[/usr/bin/faultline] [monitor --listen 0.0.0.0:9918]" ] || fail "it starts $started"
inside faultline --version | tee "$directory/log"
grep -qx "faultline $1" "$directory/log" || fail "it is not version $1"
inside faultline check || fail "it cannot record"
inside sh -ec 'head -c 123456 /dev/zero >data; faultline run -q -o t.flt -- cat data >/dev/null
	faultline report --format csv --table files --columns path,read.bytes t.flt' | tr -d '\r' |
	grep -qx /data,123456 || fail "the report lacks the file that was read"
inside timeout -s INT 5 faultline monitor --listen 127.0.0.1:0 >"$directory/log" 2>&1 || true
grep -q "listening at" "$directory/log" || fail "the monitor does not serve: $(tail -n 5 "$directory/log")"
echo "built, and run: $(images images --format '{{.Size}}' faultline:"$1")"
