#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# make install and uninstall: which files are installed where, that the loader's cache is
# updated, that nothing stays behind.
. "$(dirname "$(realpath "$0")")/_checks.sh"

# A loader's cache of our own: it notes that it was called.
printf '#!/bin/sh\necho called >>"%s/told"\n' "$place" >"$place/ldconfig"
chmod 755 "$place/ldconfig"

try() {
	make -s BUILD="$BUILD" LDCONFIG="$place/ldconfig" "$@" >"$place/log" 2>&1 || {
		cat "$place/log"
		complain "make $* failed"
	}
}

wanted="bin/faultline share/man/man1/faultline.1 share/man/man5/faultline-trace.5 share/man/man7/faultline-recipes.7 share/bash-completion/completions/faultline share/zsh/site-functions/_faultline share/fish/vendor_completions.d/faultline.fish
	include/faultline.h lib/libfaultline.a lib/libfaultline.so lib/libfaultline.so.0
	lib/pkgconfig/faultline.pc lib/faultline/python/faultline/__init__.py lib/faultline/python/faultline/mcp/__main__.py
	lib/faultline/python/hook
	lib/systemd/system/faultline-monitor.service share/faultline/monitor/alerts.yml
	share/faultline/monitor/grafana.json share/faultline/monitor/kubernetes.yaml
	share/faultline/monitor/prometheus.yml share/faultline/monitor/slurm-epilog.sh
	share/faultline/monitor/slurm-prolog.sh"

try install PREFIX="$place/usr"
[ -s "$place/told" ] || complain "the loader's cache was not renewed"
for file in $wanted; do
	[ -e "$place/usr/$file" ] || complain "install makes no $file"
done
"$place/usr/bin/faultline" --version >/dev/null || complain "what was installed does not run"

# No function of another library can be replaced in memory once they are loaded.
for file in bin/faultline lib/libfaultline.so.0 lib/faultline/python/faultline/_core.abi3.so; do
	readelf -Wld --dyn-syms "$place/usr/$file" >"$place/elf" || complain "$file is not an ELF file"
	grep -q GNU_RELRO "$place/elf" || complain "$file: no RELRO"
	grep -qw BIND_NOW "$place/elf" || complain "$file: functions are bound late"
	! grep -q 'GNU_STACK.* RWE' "$place/elf" || complain "$file: its stack is executable"
	grep -q __stack_chk_fail "$place/elf" || complain "$file: no stack protector"
done
readelf -Wh "$place/usr/bin/faultline" | grep -q 'Type: *DYN' || complain "faultline is at a fixed address"

grep -q "^prefix=$place/usr" "$place/usr/lib/pkgconfig/faultline.pc" || complain "faultline.pc names another prefix"

grep -q "^ExecStart=$place/usr/bin/faultline " "$place/usr/lib/systemd/system/faultline-monitor.service" ||
	complain "the unit starts another program"

touch "$place/usr/lib/of-another"
rm "$place/told"
try uninstall PREFIX="$place/usr"
[ -s "$place/told" ] || complain "uninstall left the library in the loader's cache"
left=$(cd "$place/usr" && find . ! -type d)
[ "$left" = ./lib/of-another ] || complain "after uninstall there is: $left"

rm "$place/told"
try install DESTDIR="$place/root" PREFIX=/usr
[ -e "$place/root/usr/bin/faultline" ] || complain "DESTDIR is not used"
[ ! -e "$place/told" ] || complain "with DESTDIR the machine's own cache was renewed"
try uninstall DESTDIR="$place/root" PREFIX=/usr
left=$(cd "$place/root" && find . ! -type d)
[ -z "$left" ] || complain "after uninstall there is: $left"
exit $failed
