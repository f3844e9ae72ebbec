//go:build race

package run_test

// dieEvery is the distance of the changes after which the process dies. Under the
// race detector, which checks memory, some of them will do: the outcome of all is
// seen without it.
const dieEvery = 7

// mentionWorlds is how many worlds of mentions are played, without SHOAL_MENTION_WORLDS.
const mentionWorlds = 3
