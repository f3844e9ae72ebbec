// Package harness drives coding agents of others: Claude Code, Codex, and whatever speaks the
// Agent Client Protocol. Such a program is a harness: it owns the loop around its model and its
// tools, and asks before it acts.
//
// A driver starts one process for one conversation and returns a [Session]. A session runs one
// turn at a time. A turn is a prompt and the events that follow from it, in the order in which the
// harness reported them, and always ends with [Ended] or an error. The packages acp, codex and
// claude are the drivers; process starts and ends what they drive.
package harness
