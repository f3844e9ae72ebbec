//go:build !race

package hub_test

// defaultSeeds is the number of seeds that every change must pass.
const defaultSeeds = 2000

// defaultClusterSeeds is smaller, because these take ten times as long. `make prove` runs 2,000.
const defaultClusterSeeds = 250
