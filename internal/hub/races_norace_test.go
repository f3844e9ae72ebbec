//go:build !race

package hub_test

// defaultSeeds is how many courses a change has to survive.
const defaultSeeds = 2000
