# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Sourced by what root runs and what builds, in the top directory. Who builds by sudo in a checkout of
# their own is to go on without it: sets `owner` to the words that run a command as them. It is empty
# for whoever is not root, for root, and by sudo where all is root's already.
# Must not know what is built.
owner=()
if [ "$(id -u)" = 0 ] && [ -n "${SUDO_UID:-}" ] && [ -n "${SUDO_GID:-}" ]; then
	built=${BUILD:-build}
	[ -e "$built" ] || built=.
	if [ "$SUDO_UID" != 0 ] && [ "$(stat -c %u "$built")" = "$SUDO_UID" ]; then
		owner=(setpriv --reuid="$SUDO_UID" --regid="$SUDO_GID" --init-groups)
	fi
	unset built
fi
