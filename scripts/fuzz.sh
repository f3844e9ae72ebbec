#!/usr/bin/env bash
# Runs every fuzz target of the repository, one after the other, for the given time each. Go
# writes a failing input to testdata/fuzz: commit it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
time="${1:?how long each target runs, such as 20s}"

mapfile -t targets < <(
	git ls-files -z --cached --others --exclude-standard '*_test.go' |
		xargs -0 grep -HoE '^func Fuzz\w+' | sed 's/:func /:/' | sort
)
((${#targets[@]} > 0)) || { echo "fuzz: no fuzz targets found" >&2; exit 1; }

failed=()
for target in "${targets[@]}"; do
	dir="./$(dirname "${target%%:*}")" name="${target##*:}"
	echo "== $dir $name"
	go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" "$dir" || failed+=("$dir $name")
done
if ((${#failed[@]} > 0)); then
	printf 'failed: %s\n' "${failed[@]}" >&2
	exit 1
fi
echo "${#targets[@]} fuzz targets, $time each: no failures"
