#!/bin/sh
# Runs before the package is removed, not before it is upgraded: dpkg passes "remove",
# rpm 0.
set -e

if [ -d /run/systemd/system ] && { [ "$1" = remove ] || [ "$1" = 0 ]; }; then
	systemctl disable --now shoal.service
fi
