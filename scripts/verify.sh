#!/usr/bin/env bash
# Writes the generated files anew and fails, showing the difference, if that
# changed one; fails too if go.mod is not tidy or SQLite gets a foreign libc.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
objects="$(git rev-parse --path-format=absolute --git-path objects)"

# in_scratch runs git with an index and an object store of its own, so that
# the state of the checkout can be kept without touching the real ones.
in_scratch() {
	GIT_INDEX_FILE="$scratch/index" GIT_OBJECT_DIRECTORY="$scratch" \
		GIT_ALTERNATE_OBJECT_DIRECTORIES="$objects" git -c core.autocrlf=false "$@"
}
keep() { in_scratch add --all . && in_scratch write-tree; }

failed=0
before="$(keep)"
make generate
after="$(keep)"
if ! in_scratch --no-pager diff --exit-code "$before" "$after"; then
	echo "verify: generated files were not up to date; they are now: look at them and commit them" >&2
	failed=1
fi
mapfile -t modules < <(git ls-files --cached --others --exclude-standard 'go.mod' '*/go.mod')
for file in "${modules[@]}"; do
	module="$(dirname "$file")"
	if ! GOWORK=off go -C "$module" mod tidy -diff; then
		echo "verify: run \`go -C $module mod tidy\`" >&2
		failed=1
	fi
done
go test -count=1 -run '^TestSQLiteGetsTheLibcThatItWants$' ./test/house || failed=1
exit "$failed"
