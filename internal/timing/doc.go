// Package timing measures the execution of a run: when its steps, their models and tools
// started and ended, what it did last, and how long it has executed.
//
//	steps := timing.NewSteps(&pulse)
//	options.Observers = []agent.Observer{steps}
//
// Guarantees:
//   - Everything is safe for concurrent use and starts no goroutine.
//   - Time in which a clock is paused never counts.
package timing
