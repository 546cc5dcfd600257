#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# What the program says of itself, its man page and its completion must agree: every option of every
# command, every column of the report. Knows no command, option or column by name.
. "$(dirname "$(realpath "$0")")/_checks.sh"

PYTHON=${PYTHON:-python3}
page=user/command/faultline.1

# The page as plain words: no fonts, no escapes.
words=$(sed -e 's/\\f[A-Z]//g' -e 's/\\-/-/g' -e 's/\\[&e]//g' "$page")

options_of() {
	"$FAULTLINE" "$1" --help | grep -oE '^ {2,6}(-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '-[a-zA-Z]\b|--[a-z-]+'
}

mapfile -t commands < <("$FAULTLINE" --help | sed -nE '/^Commands:/,/^$/s/^  ([a-z]+) .*/\1/p')
[ ${#commands[@]} -gt 1 ] || complain "--help lists no commands"

# shellcheck source=/dev/null
source user/command/faultline.bash
# complete_words WORD...: COMPREPLY for a line that ends with the last of them.
complete_words() {
	COMP_WORDS=("$FAULTLINE" "$@")
	COMP_CWORD=$#
	_faultline
}

complete_words ''
for command in "${commands[@]}"; do
	[[ " ${COMPREPLY[*]} " == *" $command "* ]] || complain "completion lacks the command $command"
	grep -qx "\.SS faultline $command" <<<"$words" || complain "$page has no section on $command"
done

for command in "${commands[@]}"; do
	section=$(sed -n -e "/^\.SS faultline $command\$/,/^\.S/p" -e '/^\.SH COMMANDS/,/^\.SS/p' <<<"$words")
	complete_words "$command" -
	options=$(options_of "$command")
	[ -n "$options" ] || complain "$command --help has no options"
	for option in $options; do
		grep -qE -- "(^|[^a-z-])$option($|[^a-z-])" <<<"$section" ||
			complain "$page does not describe $command $option"
		case $option in
		--*) [[ " ${COMPREPLY[*]} " == *" $option "* ]] ||
			complain "completion lacks $command $option" ;;
		esac
	done
	# and the other way round: no option in the section that the command does not know
	for option in $(grep -E '^\.(B|BI|BR) ' <<<"$section" | grep -oE -- '--[a-z-]+'); do
		grep -qx -- "$option" <<<"$options" || complain "$page describes $command $option, which does not exist"
	done
	# words that an option takes are completed
	while read -r option choices; do
		complete_words "$command" "$option" ''
		[ "${COMPREPLY[*]}" = "${choices//|/ }" ] ||
			complain "completion of $command $option is '${COMPREPLY[*]}', not '${choices//|/ }'"
	done < <("$FAULTLINE" "$command" --help | sed -nE 's/^ .*(--[a-z-]+) ([a-z]+\|[a-z|]+) .*/\1 \2/p')
done

# Tables, their columns and keys are completed from the program's own lists, for other shells too.
completed() {
	bash user/command/faultline.bash --complete "$FAULTLINE" "$@" | tr '\n' ' '
}
[[ " $(completed report --table '') " == *" files "*" findings "* ]] || complain "completion lacks tables"
[[ " $(completed report --table files --columns path,read.b) " == *" path,read.bytes "* ]] ||
	complain "completion lacks columns"
[ -z "$(completed report --columns '')" ] || complain "completion offers columns without a table"
[[ " $(completed report --by rank --columns '') " == *" name "* ]] || complain "completion lacks columns of groups"
[ "$(completed report --table files --sort size_)" = "size_bytes " ] || complain "completion lacks columns to sort by"
[[ " $(completed report --by '') " == *" directory "*" second "* ]] || complain "completion lacks keys"
[ "$(completed rep)" = "report " ] || complain "completion lacks commands"

# "help COMMAND" is "COMMAND --help"; the page's synopsis has every command.
synopsis=$(sed -n '/^\.SH SYNOPSIS/,/^\.SH DESCRIPTION/p' <<<"$words")
for command in "${commands[@]}"; do
	[ "$("$FAULTLINE" help "$command" 2>&1)" = "$("$FAULTLINE" "$command" --help)" ] ||
		complain "help $command is not $command --help"
	grep -qx "\.B faultline $command" <<<"$synopsis" || complain "$page: no $command in the synopsis"
done
"$FAULTLINE" help no-such-command >/dev/null 2>&1 && complain "there is help on a command that is none"

"$FAULTLINE" help --help >/dev/null || complain "there is no help on help"

# Help fits a terminal of 80 columns.
for command in "" "${commands[@]}"; do
	wide=$(COLUMNS=80 "$FAULTLINE" ${command:+"$command"} --help | grep -E '.{81}')
	[ -z "$wide" ] || complain "help of '$command' is too wide: $wide"
done
wide=$(COLUMNS=80 "$FAULTLINE" help terms | grep -E '.{81}')
[ -z "$wide" ] || complain "help terms is too wide: $wide"

# --layers lists every layer that a trace can have, and the page and the manual describe it.
described=$(sed -n '/^\.SH LAYERS/,/^\.SH /s/^\.B //p' <<<"$words")
manual=user/manual/how-it-works.md
for layer in $(sed -nE 's/^\t(SERVER_)?LAYER\([A-Z0-9]+, "([a-z0-9]+)".*/\2/p' user/trace/format/layers.h); do
	for command in run attach monitor; do
		COLUMNS=500 "$FAULTLINE" "$command" --help | grep -E '^ +--layers' | grep -qw "$layer" ||
			complain "$command --layers does not list $layer"
	done
	grep -qw "$layer" <<<"$described" || complain "$page: LAYERS does not describe $layer"
	grep -q "^| \`$layer\`" "$manual" || complain "$manual has no row on the layer $layer"
done

# Lists of words are completed, word by word, and every one of them is understood.
completes() {
	local wanted=$1
	shift
	complete_words "$@"
	[[ " ${COMPREPLY[*]} " == *" $wanted "* ]] || complain "completion of '$*' lacks $wanted: ${COMPREPLY[*]}"
}
completes syscall run --layers ''
completes task,fault run --layers task,f
completes all run --file-types ''
completes dftracer run --python-spans d
completes fault print --layer ''
completes 9p print --layer ''
completes terms help t
completes chrome export --to ''
completes csv export --describe c
completes report help r
complete_words run --layers ''
list=$(IFS=, && echo "${COMPREPLY[*]}")
[[ $("$FAULTLINE" run --layers "$list" 2>&1) == *"no command"* ]] || complain "run --layers $list is not understood"
complete_words run --file-types ''
for word in "${COMPREPLY[@]}"; do
	[[ $("$FAULTLINE" run --file-types "$word" 2>&1) == *"no command"* ]] ||
		complain "--file-types $word is not understood"
done
complete_words run --force-variant ''
[ ${#COMPREPLY[@]} -gt 4 ] || complain "completion of run --force-variant is ${COMPREPLY[*]}"
for word in "${COMPREPLY[@]}"; do
	[[ $("$FAULTLINE" run --force-variant "$word" 2>&1) == *"no command"* ]] ||
		complain "--force-variant $word is not understood"
done
complete_words export --to ''
for word in "${COMPREPLY[@]}"; do
	[ -n "$("$FAULTLINE" export --describe "$word")" ] || complain "export --describe $word"
	grep -qE "^\.BR? .*\b$word\b" "$page" || complain "$page does not describe the format $word"
done
complete_words print --layer ''
for word in "${COMPREPLY[@]}"; do
	"$FAULTLINE" print --layer "$word" tests/golden/spans.flt >/dev/null || complain "print --layer $word"
done

# The page describes every metric of the service, and no other.
described=$(sed -n '/^\.SH METRICS/,/^\.SH /p' <<<"$words" | grep -oE '\bfaultline_[a-z_]+' | sort)
metrics=$("$FAULTLINE" monitor --list-metrics | cut -f 1 | sort)
[ "$described" = "$metrics" ] || complain "$page does not describe the metrics: $(diff <(echo "$described") <(echo "$metrics"))"

# The program and the page define the terms of reports alike.
page_terms=$(sed -n '/^\.SH TERMS/,/^\.SH COMPARED/p' "$page" | sed -nE '/^\.B /{s///p;d}; /^[^.]/s/^/    /p')
[ "$page_terms" = "$(COLUMNS=500 "$FAULTLINE" help terms)" ] || complain "$page does not say what 'help terms' says"

# Every key of a printed event is a column that print --list-columns describes, or is in the page.
# faultline-report(5) describes the report; it is generated.
known=$(
	sed -nE 's/\\-/-/g; /^\.(B|BR|BI|RB) /p' "$page" | grep -oE '[A-Za-z_0-9]+'
	"$FAULTLINE" print --list-columns | sed -nE 's/^  ([a-z_0-9]+) .*/\1/p'
)
keys=$("$PYTHON" - "$FAULTLINE" <<'END'
import json, subprocess, sys

keys = set()
for trace in "tests/golden/sample.flt", "tests/golden/spans.flt":
    lines = subprocess.check_output([sys.argv[1], "print", "--format", "json", trace]).splitlines()
    for event in map(json.loads, lines):
        keys |= set(event)
print("\n".join(sorted(key for key in keys if not key.endswith("_hex"))))
END
) || complain "the traces of tests/golden cannot be printed"
for key in $keys; do
	grep -qx -- "$key" <<<"$known" || complain "$page does not document \"$key\" of print --format json"
done

if command -v groff >/dev/null; then
	for one in user/*/*.[1-9]; do
		remarks=$(groff -man -Tutf8 -ww "$one" 2>&1 >/dev/null)
		[ -z "$remarks" ] || complain "$one: $remarks"
	done
fi
exit $failed
