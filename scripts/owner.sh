# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Sourced, in the top directory, by scripts that build and may run under sudo. Sets `owner` to the
# prefix that runs a command as the caller of sudo, if the build directory is theirs. It is empty
# without root, for root itself, and if root owns the build directory.
owner=()
if [ "$(id -u)" = 0 ] && [ -n "${SUDO_UID:-}" ] && [ -n "${SUDO_GID:-}" ]; then
	built=${BUILD:-build}
	[ -e "$built" ] || built=.
	if [ "$SUDO_UID" != 0 ] && [ "$(stat -c %u "$built")" = "$SUDO_UID" ]; then
		owner=(setpriv --reuid="$SUDO_UID" --regid="$SUDO_GID" --init-groups)
	fi
	unset built
fi
