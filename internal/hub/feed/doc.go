// Package feed delivers events to followers, in order and without a gap: what a follower has
// missed or a snapshot first, then every event as it is stored, and the text of messages in
// progress as it is written.
package feed
