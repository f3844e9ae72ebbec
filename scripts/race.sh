#!/usr/bin/env bash
# Runs `go test -race` with the given arguments. The race detector of Go 1.26 can abort in
# tests that use testing/synctest ("ThreadSanitizer: CHECK failed",
# https://go.dev/issue/78156), and its runtime can crash in such a test (a SIGSEGV outside of Go
# code, in a bubble). A package that ends that way, without a failed test or a race, runs once
# more. Any other failure counts.
#
# SQLite, which is C translated to Go, is compiled without the detector: its data is outside
# of Go's memory, which the detector cannot check, and instrumenting it took more than half
# of the time. internal/sqlite, which copies all data in and out, is checked.
set -euo pipefail

log="$(mktemp)"
trap 'rm -f "$log"' EXIT
export CGO_ENABLED=1

race=(go test -race -gcflags='modernc.org/...=-race=false')
"${race[@]}" "$@" 2>&1 | tee "$log" && exit 0

# Prints the packages that aborted; fails if another one failed.
again="$(awk '
	/ThreadSanitizer: CHECK failed/ { gaveup = 1 }
	/^SIGSEGV: segmentation violation$/ { crashed = 1 }
	crashed && /^goroutine 0 .*synctest bubble/ { gaveup = 1 }
	/--- FAIL/ || /DATA RACE/       { failed = 1 }
	/^(ok|\?)[ \t]/                 { gaveup = failed = crashed = 0 }
	/^FAIL\t/ {
		if (failed || !gaveup) exit bad = 1
		print $2
		gaveup = failed = crashed = 0
	}
	END { exit bad }' "$log")" || exit 1
[[ -n $again ]] || exit 1

flags=()
for argument in "$@"; do [[ $argument == -* ]] && flags+=("$argument"); done
printf 'the race detector gave up, not a test; once more: %s\n' $again >&2
"${race[@]}" "${flags[@]}" $again
