//go:build !race

package run_test

const (
	dieEvery      = 1
	mentionWorlds = 8
)
