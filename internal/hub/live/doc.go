// Package live holds the parts of messages that runs are writing: their text before it is
// stored, and their deltas as bus messages.
package live
