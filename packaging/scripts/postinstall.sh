#!/bin/sh
# Runs after the package is installed or upgraded: dpkg passes "configure" and, on an
# upgrade, the old version; rpm passes how many versions are installed now.
set -e

if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart shoal.service
fi

if [ "$1" = 1 ] || { [ "$1" = configure ] && [ -z "$2" ]; }; then
	echo "Shoal is installed. As a service:  systemctl enable --now shoal"
	echo "For yourself, without root:        shoal serve"
fi
