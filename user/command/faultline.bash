# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# bash completion for faultline; the zsh and fish completions call this script. Commands, options and
# their values come from the program's own --help and lists. Do not name any of them here.
#
# usage: bash faultline.bash --complete WORD...
# Prints what the last word of a command line may be completed to, one to a line.

# Prints the lines of --help of a command (of faultline itself, without one), an option in one line.
_faultline_help() {
	COLUMNS=500 "$_faultline_program" ${1:+"$1"} --help 2>/dev/null
}

# _faultline_value OPTION: how --help of the command names the value of an option.
_faultline_value() {
	_faultline_help "$_faultline_command" |
		sed -nE -e "s/^ +(-[a-zA-Z], )?$1 ([^ ]+).*/\2/p" \
			-e "s/^ +$1, --[a-z-]+ ([^ ]+).*/\1/p" | head -n 1
}

# _faultline_listed OPTION: the words that the option's help lists after a colon, "...: one, two, or
# three (one).", if it lists any.
_faultline_listed() {
	_faultline_help "$_faultline_command" | grep -E -- "^ +(-[a-zA-Z], )?$1 " | grep -oE ': [^.(;]+' |
		sed -e 's/^: //' -e 's/, or /, /' | tr ',' '\n' | sed -nE 's/^ *([a-z0-9_]+) *$/\1/p'
}

# The keys that the option's help names after "by": "... by one, two or three."
_faultline_keys() {
	_faultline_help "$_faultline_command" | sed -nE "s/^ +$1 .* by ([a-z, ]+)\.\$/\1/p" |
		sed -e 's/ or /, /' | tr -d ' ' | tr ',' '\n'
}

# The first words of the lines below the first one of a list that the command prints: of its tables,
# or of the columns of the table that the line names.
_faultline_rows() {
	local i table=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == --@(table|by) ]] && table=("${COMP_WORDS[@]:i:2}")
	done
	# Without a table, the command lists the columns of all, and refuses them.
	[[ $1 == --list-columns && ${#table[@]} == 0 ]] && return
	"$_faultline_program" "$_faultline_command" "$1" "${table[@]}" 2>/dev/null |
		sed -e 1d -e 's/ .*//'
}

# One or more words of a list, with commas between.
_faultline_list() {
	local before=''
	[[ $current == *,* ]] && before=${current%,*},
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${current##*,}")
}

_faultline_words() {
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

_faultline_files() {
	type compopt >/dev/null 2>&1 && compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$current")
}

# _faultline_complete_value NAME OPTION: a value, by the name that --help gives it.
_faultline_complete_value() {
	case $1 in
	*'|'*) _faultline_words "${1//|/ }" ;;
	NAME) [[ $2 == --table ]] && _faultline_words "$(_faultline_rows --list-tables)" ;;
	COLUMN) _faultline_words "$(_faultline_rows --list-columns)" ;;
	KEY) _faultline_words "$(_faultline_keys "$2")" ;;
	LIST) [[ $2 == --columns ]] && _faultline_list "$(_faultline_rows --list-columns)" ||
		_faultline_list "$(_faultline_listed "$2")" ;;
	VARIANTS) _faultline_list "$("$_faultline_program" "$_faultline_command" "$2" list 2>/dev/null)" ;;
	LAYER | FORMAT) _faultline_words "$(_faultline_listed "$2")" ;;
	FINDING) _faultline_words "$("$_faultline_program" "$_faultline_command" "$2" list 2>/dev/null |
		cut -d ' ' -f 1)" ;;
	USER) mapfile -t COMPREPLY < <(compgen -u -- "$current") ;;
	FILE | PATH | DIR | TRACE*) _faultline_files ;;
	*) COMPREPLY=() ;; # a number, or a text of one's own
	esac
}

# Looks at the words before the current one. Sets _faultline_command, `after` to the option whose
# value comes next, and `operand` to the number of the first operand.
_faultline_walk() {
	local i word
	_faultline_command='' after='' operand=0
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ -z $_faultline_command ]]; then
			_faultline_command=$word
		elif [[ -n $after ]]; then
			after=''
		elif [[ $word == -- ]]; then
			operand=$((i + 1))
			return
		elif [[ $word == -?* ]]; then
			[[ -n $(_faultline_value "$word") ]] && after=$word
		else
			operand=$i
			return
		fi
	done
}

_faultline() {
	local current=${COMP_WORDS[COMP_CWORD]} after operand
	local _faultline_program=${COMP_WORDS[0]} _faultline_command
	COMPREPLY=()
	_faultline_walk
	if [[ -z $_faultline_command ]]; then
		_faultline_words "help --help --version $(_faultline_help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p')"
	elif [[ $_faultline_command == help ]]; then
		_faultline_words "terms $(_faultline_help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p')"
	elif [[ -n $after ]]; then
		_faultline_complete_value "$(_faultline_value "$after")" "$after"
	elif [[ $operand == 0 && $current == -* ]]; then
		_faultline_words "$(_faultline_help "$_faultline_command" | grep -oE -- '^ +(-[a-zA-Z], )?--[a-z-]+' |
			grep -oE -- '--[a-z-]+')"
	elif _faultline_help "$_faultline_command" | grep -q '^Usage:.* COMMAND'; then
		# The rest is a command line of its own.
		if type _command_offset >/dev/null 2>&1; then
			_command_offset "$((operand ? operand : COMP_CWORD))"
		elif [[ $operand == 0 || $operand == "$COMP_CWORD" ]]; then
			mapfile -t COMPREPLY < <(compgen -c -- "$current")
		else
			_faultline_files
		fi
	elif _faultline_help "$_faultline_command" | grep -q '^Usage:.* TRACE'; then
		_faultline_files
	fi
}

if [[ ${BASH_SOURCE[0]} == "$0" && $1 == --complete ]]; then
	COMP_WORDS=("${@:2}")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_faultline
	((${#COMPREPLY[@]})) && printf '%s\n' "${COMPREPLY[@]}"
	exit 0
fi
complete -F _faultline faultline
