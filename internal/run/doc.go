// Package run executes the runs of hosted agents: it claims them from the hub,
// drives their model loop, and writes what they do.
//
//	executor, err := run.New(run.Options{Hub: h, Alone: true})
//	…
//	if err := executor.Start(ctx); err != nil { … }
//	defer executor.Stop() // before the hub is stopped
//
// Guarantees:
//   - A run is executed under a lease. Once another server has
//     the lease, every write is refused and the run's context ends.
//   - What others see of a run is stored before the run's next event is handled;
//     deltas are sent after the commit of the part that they belong to.
//   - A suspended run uses no goroutine and no memory: what it waits for is stored by
//     the hub.
//   - An interrupted run continues from its last stored step. Finished tools are not
//     executed again.
//   - A store that is busy, slow, full or out of reach delays a run and does not end it:
//     its reads and writes are retried as long as this server holds the lease. A run with
//     a write whose outcome is unknown continues from what is stored, as after a crash.
//   - Every end of a run closes its messages in the transaction that ends it. A write that
//     the store refuses for good ends the run as failed; if that cannot be stored either,
//     the next server that claims the run continues it.
//   - After Stop no goroutine of the executor is running.
package run
