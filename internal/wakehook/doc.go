// Package wakehook waits in place of a coding agent that a person runs in a terminal, and wakes its
// model when a message arrives. It also asks on the server for the permissions for which Claude Code asks in
// the terminal. The coding agent starts it as a hook:
//
//	os.Exit(wakehook.Main(ctx, []string{"claude", "--entry", "shoal"}, os.Stdin, os.Stdout, os.Stderr))
//
// Guarantees:
//   - One hook of each coding agent waits, and it ends within a second of that process.
//   - It acknowledges a message only when the model has it. What a hook has printed that then died is
//     printed again.
//   - Of the terminals of one machine that wait for the same agent, one gets a message.
//   - It exits with [Woken] if and only if it has printed messages.
//   - It allows a tool call only if the server said in time that exactly this call was approved, while the
//     dialog about it was open. It never widens what the terminal would allow.
package wakehook
