#!/usr/bin/env bash
# Runs `go test -race` with the given arguments. The detector of Go 1.26 can give
# up by itself in tests that use testing/synctest ("ThreadSanitizer: CHECK
# failed", https://go.dev/issue/78156). A package that ended so, without a failed
# test or a race, has shown nothing: it runs once more. Everything else counts.
#
# SQLite, which is C that was translated to Go, is compiled without the detector:
# it keeps its data outside of Go's memory, where the detector does not look, and
# looking there all the same took more than half of the time. What goes in and out
# is copied by internal/sqlite, which the detector watches.
set -euo pipefail

log="$(mktemp)"
trap 'rm -f "$log"' EXIT
export CGO_ENABLED=1

race=(go test -race -gcflags='modernc.org/...=-race=false')
"${race[@]}" "$@" 2>&1 | tee "$log" && exit 0

# Prints the packages that have shown nothing; fails if another one failed.
again="$(awk '
	/ThreadSanitizer: CHECK failed/ { gaveup = 1 }
	/--- FAIL/ || /DATA RACE/       { failed = 1 }
	/^(ok|\?)[ \t]/                 { gaveup = failed = 0 }
	/^FAIL\t/ {
		if (failed || !gaveup) exit bad = 1
		print $2
		gaveup = failed = 0
	}
	END { exit bad }' "$log")" || exit 1
[[ -n $again ]] || exit 1

flags=()
for argument in "$@"; do [[ $argument == -* ]] && flags+=("$argument"); done
printf 'the race detector gave up, not a test; once more: %s\n' $again >&2
"${race[@]}" "${flags[@]}" $again
