#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# make install and uninstall: which files are installed where, that the loader's cache is
# updated, that nothing stays behind.
. "$(dirname "$(realpath "$0")")/_checks.sh"

# A loader's cache of our own: it notes that it was called.
printf '#!/bin/sh\necho called >>"%s/called"\n' "$directory" >"$directory/ldconfig"
chmod 755 "$directory/ldconfig"

try() {
	make -s BUILD="$BUILD" LDCONFIG="$directory/ldconfig" "$@" >"$directory/log" 2>&1 || {
		cat "$directory/log"
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

try install PREFIX="$directory/usr"
[ -s "$directory/called" ] || complain "the loader's cache was not renewed"
for file in $wanted; do
	[ -e "$directory/usr/$file" ] || complain "install makes no $file"
done
"$directory/usr/bin/faultline" --version >/dev/null || complain "what was installed does not run"

# No function of another library can be replaced in memory once they are loaded.
for file in bin/faultline lib/libfaultline.so.0 lib/faultline/python/faultline/_core.abi3.so; do
	readelf -Wld --dyn-syms "$directory/usr/$file" >"$directory/elf" || complain "$file is not an ELF file"
	grep -q GNU_RELRO "$directory/elf" || complain "$file: no RELRO"
	grep -qw BIND_NOW "$directory/elf" || complain "$file: functions are bound late"
	! grep -q 'GNU_STACK.* RWE' "$directory/elf" || complain "$file: its stack is executable"
	grep -q __stack_chk_fail "$directory/elf" || complain "$file: no stack protector"
done
readelf -Wh "$directory/usr/bin/faultline" | grep -q 'Type: *DYN' || complain "faultline is at a fixed address"

grep -q "^prefix=$directory/usr" "$directory/usr/lib/pkgconfig/faultline.pc" || complain "faultline.pc names another prefix"

grep -q "^ExecStart=$directory/usr/bin/faultline " "$directory/usr/lib/systemd/system/faultline-monitor.service" ||
	complain "the unit starts another program"

touch "$directory/usr/lib/of-another"
rm "$directory/called"
try uninstall PREFIX="$directory/usr"
[ -s "$directory/called" ] || complain "uninstall left the library in the loader's cache"
left=$(cd "$directory/usr" && find . ! -type d)
[ "$left" = ./lib/of-another ] || complain "after uninstall there is: $left"

rm "$directory/called"
try install DESTDIR="$directory/root" PREFIX=/usr
[ -e "$directory/root/usr/bin/faultline" ] || complain "DESTDIR is not used"
[ ! -e "$directory/called" ] || complain "with DESTDIR the machine's own cache was renewed"
try uninstall DESTDIR="$directory/root" PREFIX=/usr
left=$(cd "$directory/root" && find . ! -type d)
[ -z "$left" ] || complain "after uninstall there is: $left"
exit $failed
