// Package process starts a coding agent and ends it, with everything that it has started: an npm
// wrapper that dies leaves the program alive that does the work.
package process
