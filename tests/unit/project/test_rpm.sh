#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The RPM packages, made of what is already built: rpmbuild refuses files that are in no package.
. "$(dirname "$(realpath "$0")")/_checks.sh"

command -v rpmbuild >/dev/null || { echo "no rpmbuild here" && exit 77; }
export BUILD

version=$("$FAULTLINE" --version | grep -oE '[0-9.]+$')
spec=scripts/rpm/faultline.spec
grep -qx "Version: *$version" "$spec" || complain "$spec is not of version $version"

# rpm does not know Debian's packages.
env -u MAKEFLAGS -u MAKELEVEL rpmbuild -bb --build-in-place --nodeps --define "_topdir $directory" \
	--define '_libdir /usr/lib64' "$spec" >"$directory/log" 2>&1 ||
	{ complain "rpmbuild failed: $(tail -n 20 "$directory/log")" && exit 1; }
list() {
	rpm -qp --dbpath "$directory/none" --qf '[%{FILENAMES} %{FILELINKTOS}\n]' "$directory"/RPMS/*/"$1"-"$version"-*.rpm
}
for file in faultline:/usr/bin/faultline faultline:/usr/share/faultline/monitor/grafana.json \
	faultline:/usr/lib/systemd/system/faultline-monitor.service libfaultline:/usr/lib64/libfaultline.so.0 \
	libfaultline-devel:/usr/lib64/libfaultline.a libfaultline-devel:/usr/include/faultline.h; do
	list "${file%%:*}" | grep -qF "${file#*:} " || complain "${file%%:*} lacks ${file#*:}"
done
# A link leads from where `run --python-spans` looks to where Python looks.
python=$(list python3-faultline)
site=$(sed -n 's,/faultline/_core.abi3.so .*,,p' <<<"$python")
link=$(sed -n 's,^/usr/lib/faultline/python/faultline ,,p' <<<"$python")
[ "$(realpath -m "/usr/lib/faultline/python/$link")" = "${site:-none}/faultline" ] ||
	complain "$link does not lead to $site"
rpm -qp --dbpath "$directory/none" --requires "$directory"/RPMS/*/faultline-"$version"-*.rpm | grep -q '^libbpf\.so' ||
	complain "faultline does not require libbpf"

exit $failed
