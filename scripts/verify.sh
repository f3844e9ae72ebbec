#!/usr/bin/env bash
# Regenerates the generated files, and fails with the difference if one has changed; also
# fails if go.mod is not tidy or SQLite gets a foreign libc.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
objects="$(git rev-parse --path-format=absolute --git-path objects)"

# in_scratch runs git with a separate index and object store, so that it can record the
# state of the checkout without changing the real ones.
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
	echo "verify: generated files were not up to date and have been regenerated: review and commit them" >&2
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
