//go:build race

package hub_test

// defaultSeeds is smaller with the race detector, which is several times slower. It checks
// memory accesses; the outcome of all seeds is checked without it.
const (
	defaultSeeds        = 400
	defaultClusterSeeds = 100
)
