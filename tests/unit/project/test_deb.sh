#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The Debian packages, as far as can be checked without building them (make deb-check builds and
# installs them): control files, versions, and that each file of make install is in exactly one of them.
. "$(dirname "$(realpath "$0")")/_checks.sh"

# --- one version ---

version=$("$FAULTLINE" --version | grep -oE '[0-9.]+$')
[ -n "$version" ] || complain "faultline --version prints none"
for claim in "user/python/backend.py:NAME, VERSION = \"faultline\", \"$version\"" \
	"user/python/pyproject.toml:version = \"$version\"" \
	"user/python/faultline/__init__.py:__version__ = \"$version\"" \
	"user/command/faultline.1:\"faultline $version\"" "user/command/faultline-recipes.7:\"faultline $version\"" "Makefile:VERSION := $version" \
	"scripts/spack/packages/faultline/package.py:version(\"$version\"" "scripts/container/Dockerfile:faultline:$version" \
	"scripts/helm/faultline-monitor/values.yaml:image: faultline:$version"; do
	grep -qF -- "${claim#*:}" "${claim%%:*}" || complain "${claim%%:*} is not of version $version"
done

# --- control files ---

SOURCE_DATE_EPOCH=1700000000 MAINTAINER='A B <a@b.example.org>' \
	scripts/deb.sh control "$version" "$directory" || complain "no control files"
debian=$directory/debian
head -n 1 "$debian/changelog" | grep -q "^faultline ($version) " || complain "changelog: $(head -n 1 "$debian/changelog")"
tail -n 1 "$debian/changelog" | grep -q '^ -- A B <a@b.example.org>  Tue, 14 Nov 2023 22:13:20 +0000$' ||
	complain "changelog: $(tail -n 1 "$debian/changelog")"
grep -q 'Redistributions in binary form' "$debian/copyright" || complain "copyright lacks the licence"
left=$(grep -rnE '@[A-Z]+@' "$debian")
[ -z "$left" ] || complain "not filled in: $left"

mapfile -t packages < <(sed -n 's/^Package: //p' "$debian/control")
[ ${#packages[@]} -gt 1 ] || complain "control has no packages"
for list in "$debian"/*.install; do
	name=$(basename "$list" .install)
	[[ " ${packages[*]} " == *" $name "* ]] || complain "$name.install belongs to no package"
done
for package in "${packages[@]}"; do
	[ -s "$debian/$package.install" ] || complain "$package has no files"
done

# All that is needed to build is asked for; a compiler and make always are there (build-essential).
needed=$(PATH=/nonexistent /bin/bash scripts/setup.sh build 2>&1 | sed 's/.*: //')
[[ " $needed " == *" libbpf-dev "* ]] || complain "setup.sh does not list what it installs: $needed"
for package in $needed; do
	case $package in gcc | libc6-dev | make) continue ;; esac
	grep -qE "^ $package( \(.*\))?,$" "$debian/control" || complain "Build-Depends lacks $package"
done

# --- the library's symbols are those that it exports ---

exported=$(nm -D --defined-only "$BUILD/libfaultline.so.0" | awk '{ print $3 }' | sort)
listed=$(sed -nE 's/^ (.*)@Base .*/\1/p' "$debian/libfaultline0.symbols" | sort)
[ "${exported:-none}" = "$listed" ] ||
	complain "libfaultline0.symbols and the library: $(diff <(echo "$listed") <(echo "$exported"))"

# Debian's zsh looks for completions of packages only there.
grep -qx "usr/share/zsh/site-functions/_faultline usr/share/zsh/vendor-completions" "$debian/faultline.install" ||
	complain "the completion is not where Debian's zsh finds it"

# --- each file is in one package ---

make -s BUILD="$BUILD" install DESTDIR="$directory/root" PREFIX=/usr LIBDIR=/usr/lib/of-this-machine \
	SYSTEMD_UNITS=/lib/systemd/system >"$directory/log" 2>&1 || complain "$(cat "$directory/log")"
# As debian/rules has it: the Python package where Debian's Python looks, with its wheel's metadata.
site=$directory/root/usr/lib/python3/dist-packages
mkdir -p "$site/faultline-$version.dist-info"
mv "$directory/root/usr/lib/faultline/python/faultline" "$site" || complain "no Python package is installed"
touch "$site/faultline-$version.dist-info/METADATA"

for package in "${packages[@]}"; do
	while read -r pattern _; do # and where to
		# shellcheck disable=SC2086 # a pattern
		found=$(cd "$directory/root" && find $pattern ! -type d 2>/dev/null)
		[ -n "$found" ] || complain "$package.install: nothing is $pattern"
		echo "$found"
	done <"$debian/$package.install"
done | sort >"$directory/packed"
grep '\.install: nothing is' "$directory/packed" && failed=1
twice=$(uniq -d "$directory/packed")
[ -z "$twice" ] || complain "in two packages: $twice"
missed=$(cd "$directory/root" && find . ! -type d | sed 's,^\./,,' | sort | comm -23 - "$directory/packed")
[ -z "$missed" ] || complain "in no package: $missed"

exit $failed
