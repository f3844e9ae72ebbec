//go:build !linux

package sqlconn

import "time"

// limitSilence does nothing: this system has no such option, and keep-alive probes must do.
func limitSilence(uintptr, time.Duration) {}
