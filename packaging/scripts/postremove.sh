#!/bin/sh
# Runs after the package is removed. The data in /var/lib/shoal stays, also after
# `dpkg --purge`: nobody else has it.
set -e

if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
