//go:build !race

package agent_test

const defaultSeeds = 1500
