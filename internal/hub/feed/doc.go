// Package feed delivers events to followers, in order and without gaps: first a snapshot or
// the events that the follower has missed, then every event as it is stored, and the text of
// streaming messages as it is written.
package feed
