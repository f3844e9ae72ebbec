// Package runner runs coding agents for a server: it owns their processes on this machine, claims
// the runs that mention them, and reports what they do.
//
// A runner decides what may happen on its machine. What an agent may do, in which directory, and
// for whom, is in its own configuration; nothing on the server can widen it.
package runner
