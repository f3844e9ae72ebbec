//go:build !linux

package process

import "errors"

// Resident fails: here the memory of process groups is not measured.
func Resident() (map[int]int64, error) {
	return nil, errors.New("the memory of programs is measured on Linux only")
}
