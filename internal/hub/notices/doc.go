// Package notices posts system messages that inform the members of a space about the end of a
// run: that it has failed, why, and what to do.
package notices
