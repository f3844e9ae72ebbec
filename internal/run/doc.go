// Package run executes the runs of hosted agents: it claims them from the hub,
// drives their model loop, and writes what they do.
//
//	executor, err := run.New(run.Options{Hub: h, Alone: true})
//	…
//	if err := executor.Start(ctx); err != nil { … }
//	defer executor.Stop() // before the hub is stopped
//
// Guarantees:
//   - A run is executed under a lease. Everything that it writes is refused once
//     the lease is another's, and its context ends then.
//   - What others see of a run is stored before the run's next event is taken;
//     deltas follow the commit of the part that they belong to.
//   - A run that waits for people, for a reply or for the time holds no goroutine
//     and nothing in memory: what it waits for are rows of the hub.
//   - A run that was cut off goes on from its last stored step. Tools that had
//     finished are not executed again.
//   - Every end of a run closes its messages in the transaction that ends it. A run
//     that cannot store fails as such, or, if even that cannot be stored, stays for
//     whoever claims it next; it never goes on unseen.
//   - Stop leaves no goroutine behind.
package run
