//go:build race

package agent_test

const (
	defaultSeeds = 150
	soakTurns    = 100
)
