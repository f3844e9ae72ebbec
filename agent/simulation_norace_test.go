//go:build !race

package agent_test

const (
	defaultSeeds = 1500
	soakTurns    = 1000
)
