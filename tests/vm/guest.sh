#!/bin/busybox sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Runs inside the virtual machine: brings a cold file into the page cache in many ways under
# faultline run, and compares what the report says with what the kernel counted for the program
# itself (mincore, getrusage). Prints a line for each way.

passed=0
failed=0

verdict() { # NAME GOT EXPECTED
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
		echo "ok    $1: $2"
	else
		failed=$((failed + 1))
		echo "FAIL  $1: $2, expected $3"
	fi
}

# The number after a key in JSON on standard input, the first of them.
number() {
	tr -d ' \n' | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"
}

# The row of a file in the report: one line, no spaces.
file_row() {
	/bin/faultline report --format json "$1" | tr -d ' \n' | sed 's/.*"files":\[//; s/\],"failed_lookups".*//; s/},{"path/},\n{"path/g' |
		grep "^{\"path\":\"$2\"" | head -n 1
}

# Sum of all fetched_bytes of a file's row, in pages.
fetched_pages() {
	echo "$1" | grep -o 'fetched_bytes":[0-9]*' | {
		sum=0
		while IFS=: read -r _ bytes; do
			sum=$((sum + bytes))
		done
		echo $((sum / 4096))
	}
}

/bin/faultline check || exit 1
verdict "fault layer by" "$(/bin/faultline check | sed -n 's/^fault *on *\([^ ]*\).*/\1/p')" "$FAULT_VARIANT"

cd /mnt || exit 1
for mode in $(/bin/mapper list); do
	[ "$mode" = sparse ] && continue # needs more memory than there is
	dd if=/dev/urandom of=data bs=1M count=8 2>/dev/null
	dd if=/dev/zero of=other bs=1M count=8 2>/dev/null
	sync
	echo 3 >/proc/sys/vm/drop_caches
	/bin/faultline run -q --force -o /tmp/x.flt -- /bin/mapper "$mode" /mnt/data /tmp/out /mnt/other ||
		verdict "$mode exits" $? 0
	row=$(file_row /tmp/x.flt /mnt/data)
	verdict "$mode: pages" "$(fetched_pages "$row")" "$(number resident </tmp/out)"
	verdict "$mode: major faults" "$(echo "$row" | number major)" "$(number major </tmp/out)"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
