//go:build !race

package hub_test

// defaultSeeds is the number of seeds that every change must pass.
const defaultSeeds = 2000
