// Package thirdparty has the notices about the works of others that the program contains.
package thirdparty

import (
	"compress/gzip"
	_ "embed"
	"io"
	"strings"
)

// packed is written by `make generate` (build/release/notices.go).
//
//go:embed notices.txt.gz
var packed string

// Notices returns the name, version, licence and licence texts of every Go module and npm
// package in the programs for all platforms. The text is unpacked with each call: 500 KB, a
// few milliseconds. An error means that the program was built wrongly.
func Notices() (string, error) {
	unpacked, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		return "", err
	}
	var text strings.Builder
	_, err = io.Copy(&text, unpacked)
	return text.String(), err
}
