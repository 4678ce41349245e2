# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Shared by the scripts under tools/; source it, do not run it.

llcg_top()
{
	(cd "${BASH_SOURCE[0]%/*}/.." && pwd -P)
}

llcg_cache_dir()
{
	printf '%s\n' "${XDG_CACHE_HOME:-$HOME/.cache}/llc-gran"
}

# The name errors start with: the script's path inside the repository.
llcg_name()
{
	local path
	path=$(readlink -f -- "$0")
	printf '%s\n' "${path#"$(llcg_top)"/}"
}

warn()
{
	printf '%s: %s\n' "$(llcg_name)" "$*" >&2
}

die()
{
	warn "$@"
	exit 1
}

usage_die()
{
	warn "$@"
	exit 2
}

llcg_elapsed()
{
	printf '%dm%02ds\n' $(($1 / 60)) $(($1 % 60))
}

# llcg_run LABEL LOG PATTERN TOTAL COMMAND…
# Runs COMMAND with its output in LOG and, from the sixth second on, says how
# long it has been running and how many lines of LOG match PATTERN (when
# PATTERN is not empty), out of about TOTAL (when TOTAL is not empty).  One
# line that updates itself on a terminal, a line every ten seconds elsewhere.
# Progress goes to stderr.  Returns COMMAND's status.
#
# COMMAND runs in a process group of its own, so that llcg_stop can end all of
# it: call llcg_stop from the script's EXIT trap.
LLCG_CHILD=

llcg_run()
{
	local label=$1 log=$2 pattern=$3 total=$4 start=$SECONDS status=0
	local every=10 next=6 seen line tty=
	shift 4

	if [ -t 2 ]; then
		tty=1
		every=1
	fi

	set -m
	"$@" >"$log" 2>&1 </dev/null &
	LLCG_CHILD=$!
	set +m

	while kill -0 "$LLCG_CHILD" 2>/dev/null; do
		# Short naps, so that a command that takes no time costs none.
		sleep 0.2 &
		wait $! || :
		((SECONDS - start >= next)) || continue
		next=$((SECONDS - start + every))
		line="$label: $(llcg_elapsed $((SECONDS - start)))"
		if [ -n "$pattern" ]; then
			seen=$(grep -cE -- "$pattern" "$log" || :)
			line+=", $seen${total:+ of about $total} objects"
		fi
		if [ -n "$tty" ]; then
			printf '\r\033[K%s' "$line" >&2
		else
			printf '%s\n' "$line" >&2
		fi
	done
	wait "$LLCG_CHILD" || status=$?
	LLCG_CHILD=
	if [ -n "$tty" ] && ((next > 6)); then
		printf '\r\033[K' >&2
	fi
	return "$status"
}

llcg_stop()
{
	[ -n "$LLCG_CHILD" ] || return 0
	kill -TERM -- "-$LLCG_CHILD" 2>/dev/null || :
	wait "$LLCG_CHILD" 2>/dev/null || :
	LLCG_CHILD=
	[ ! -t 2 ] || printf '\n' >&2
}

# llcg_debian_source SUITE…: "URI KEYRING" of the archive that apt takes the
# first SUITE it uses at all from; fails when it uses none of them.
llcg_debian_source()
{
	local suite keyring=/usr/share/keyrings/debian-archive-keyring.gpg

	[ -r "$keyring" ] || keyring=
	for suite in "$@"; do
		# shellcheck disable=SC2016 # apt's variables, not ours
		apt-get indextargets --format '$(REPO_URI) $(RELEASE)' \
			'Created-By: Packages' 'Component: main' 2>/dev/null |
			awk -v suite="$suite" -v keyring="$keyring" \
				'$2 == suite && !n++ { print $1, keyring }' |
			grep . && return 0
	done
	return 1
}
