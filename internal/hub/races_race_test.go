//go:build race

package hub_test

// defaultSeeds is a fifth under the race detector, which is several times as slow:
// it looks at memory, and the outcome of all of them is seen without it.
const defaultSeeds = 400
