// Package inbox implements the inboxes of participants and the waits on them. A wait blocks
// until a message arrives that it matches, acknowledges what its caller has received, and
// wakes together with the other waits of its participant. The package also reports how a
// message reaches the agents that it mentions.
package inbox
