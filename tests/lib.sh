# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Shared by the tests; source it, do not run it.  A test says what it found in
# lines that begin with PASS, FAIL or SKIP and a name; tests/run counts them.

top=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd -P)

pass()
{
	printf 'PASS %s\n' "$*"
}

fail()
{
	printf 'FAIL %s\n' "$*"
}

skip()
{
	printf 'SKIP %s\n' "$*"
}

# check NAME COMMAND…: COMMAND's status decides.
check()
{
	local name=$1
	shift
	if "$@"; then
		pass "$name"
	else
		fail "$name"
	fi
}

# equal NAME GOT WANTED
equal()
{
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1: got '$2', wanted '$3'"
	fi
}

# match NAME GOT PATTERN: an extended regular expression.
match()
{
	if grep -qE -- "$3" <<<"$2"; then
		pass "$1"
	else
		fail "$1: no '$3' in '$2'"
	fi
}

# at_most NAME GOT LIMIT: decimal numbers; no number fails.
at_most()
{
	if awk -v got="$2" -v limit="$3" 'BEGIN {
		exit !(got ~ /^-?[0-9.]+$/ && got + 0 <= limit + 0) }'; then
		pass "$1: $2 <= $3"
	else
		fail "$1: $2 is not <= $3"
	fi
}

# at_least NAME GOT LIMIT
at_least()
{
	if awk -v got="$2" -v limit="$3" 'BEGIN {
		exit !(got ~ /^-?[0-9.]+$/ && got + 0 >= limit + 0) }'; then
		pass "$1: $2 >= $3"
	else
		fail "$1: $2 is not >= $3"
	fi
}

# median NUMBER…: the middle one, or the lower of two.
median()
{
	printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"
}

# vm NAME OPTION… -- COMMAND…: tools/vm/run; a status other than 0 fails.
vm()
{
	local name=$1 status=0
	shift
	"$top/tools/vm/run" "$@" || status=$?
	((status == 0)) || fail "$name: tools/vm/run ended with $status"
}
