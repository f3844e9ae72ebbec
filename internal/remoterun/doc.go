// Package remoterun turns what programs outside of the server report about the runs that they
// execute into messages, pending actions, steps and usage, as package run does for the runs
// that the server executes itself.
//
//	server := remoterun.New(remoterun.Options{Hub: h})
//	server.Start()
//	defer server.Stop() // before the hub is stopped
//	claimed, err := server.Claim(ctx, who, session, agent, remoterun.Demand{Limit: 1})
//	receipt, err := server.Work(ctx, who, session, run, generation, lines)
//	err = server.Orders(ctx, who, session, run, generation, send)
//
// Guarantees:
//   - A report is stored whole or not at all, before its receipt and before followers see
//     its words. Lines that are stored already are ignored; a gap is refused.
//   - A claim is a lease: the generation of an earlier one is refused. Any server accepts the
//     lines of a claim. If it is not the one that accepted the lines before, it first
//     repeats what is stored, and followers get part.reset.
//   - After a crash of the program, its lease ends, and the next claim says what was written,
//     which tool calls have ended, and how requests were answered. After a crash of a server
//     the program goes on.
//   - A run that is canceled ends at once, whatever its program does.
//   - Memory is bounded: by the number of runs that programs hold, and for each of them by
//     [shoal.MaxWorkRun].
//   - After Stop no goroutine of the server is running.
package remoterun
