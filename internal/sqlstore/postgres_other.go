//go:build !linux

package sqlstore

import "time"

// limitSilence is left to the keep-alive probes where there is no such option.
func limitSilence(uintptr, time.Duration) {}
