package core

import (
	"github.com/shoal-dev/shoal"
)

// HasPrivateParts reports whether a part of m is for one member only.
func HasPrivateParts(m shoal.Message) bool {
	for _, p := range m.Parts {
		if p.Target != "" {
			return true
		}
	}
	return false
}

// RedactMessages removes from messages, in place, the content that is not for a reader, and
// returns them.
func RedactMessages(messages []shoal.Message, reader shoal.EntityID) []shoal.Message {
	for i := range messages {
		messages[i] = messages[i].For(reader)
	}
	return messages
}
