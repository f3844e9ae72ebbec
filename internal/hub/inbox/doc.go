// Package inbox keeps the inboxes of participants and the waits on them: a wait blocks until
// a message arrives that it matches, acknowledges what its caller has received, and wakes
// together with the other waits of its participant. It also reports how a message reaches
// the agents that it mentions.
package inbox
