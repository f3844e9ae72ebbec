#!/usr/bin/env bash
# Installs the programs that the tests need besides Go, if they are missing: PostgreSQL's
# server, a C compiler for the race detector, Node for the tests with other clients, a
# browser for the console's tests, the shells with completion, systemd-analyze, the
# programs that install and check releases (rpm, curl, wget), those that pages of docs/
# show (nginx, caddy), Python with what its client needs, strace and
# mkfs.ext4 for the fault tests, and a terminal for coding agents (tmux). Returns quickly if everything is installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

has_postgres() {
	command -v initdb >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null
}

# A compiler without the C library's headers is not sufficient.
has_compiler() {
	local cc
	read -ra cc <<<"$(go env CC)"
	command -v "${cc[0]}" >/dev/null && "${cc[@]}" -E -x c - <<<'#include <stdlib.h>' >/dev/null 2>&1
}

has_node() {
	{ command -v node && command -v npm; } >/dev/null
}

has_browser() {
	[[ -n ${CHROMIUM:-} ]] || command -v chromium-headless-shell chromium chromium-browser google-chrome >/dev/null
}

has_shells() {
	{ command -v bash && command -v zsh && command -v fish; } >/dev/null
}

# The Python of the system, or the first on PATH, as internal/shoaltest/program looks for it: new
# enough, with the library of the client and the one that builds its wheel.
has_python() {
	local python
	for python in python3 /usr/bin/python3; do
		! "$python" -c 'import sys, httpx, hatchling; assert sys.version_info >= (3, 10)' 2>/dev/null || return 0
	done
	return 1
}

# lacking lists the Debian packages that are missing.
lacking() {
	has_postgres || echo postgresql
	has_compiler || printf '%s\n' gcc libc6-dev
	has_node || printf '%s\n' nodejs npm
	has_shells || printf '%s\n' bash zsh fish
	command -v systemd-analyze >/dev/null || echo systemd
	# Chromium without windows: with it the stories of the console take half of the CPU time.
	has_browser || printf '%s\n' chromium-headless-shell fonts-dejavu-core
	command -v strace >/dev/null || echo strace
	command -v tmux >/dev/null || echo tmux
	command -v rpm >/dev/null || echo rpm
	command -v curl >/dev/null || echo curl
	command -v wget >/dev/null || echo wget
	has_python || printf '%s\n' python3 python3-httpx python3-hatchling
	command -v nginx >/dev/null || [[ -x /usr/sbin/nginx ]] || echo nginx-light
	command -v caddy >/dev/null || echo caddy
	[[ -x /usr/sbin/mkfs.ext4 ]] || command -v mkfs.ext4 >/dev/null || echo e2fsprogs
}

mapfile -t packages < <(lacking)
((${#packages[@]} > 0)) || exit 0

install=(apt-get install --yes --no-install-recommends "${packages[@]}")
if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
	{
		echo "The tests need these Debian packages: ${packages[*]}. Install them with"
		echo "  sudo sh -c 'apt-get update && ${install[*]}'"
		echo "or, on another system, install these programs on PATH: initdb, a C compiler, node and npm, chromium-headless-shell or chromium, bash, zsh, fish, systemd-analyze, rpm, curl, wget, nginx, caddy, tmux, and python3 with the packages httpx and hatchling."
	} >&2
	exit 1
fi

echo "installing ${packages[*]}"
export DEBIAN_FRONTEND=noninteractive
# A new machine has no package lists, another one may have a broken source.
apt-get update || echo "apt-get update failed; continuing with the existing package lists" >&2
"${install[@]}" </dev/null

mapfile -t packages < <(lacking)
if ((${#packages[@]} > 0)); then
	echo "installed, but still missing: ${packages[*]}" >&2
	exit 1
fi
