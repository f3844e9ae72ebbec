package chat

import (
	"slices"

	"github.com/shoal-dev/shoal"
)

// Outgoing is a message that is not posted yet. The server stores it only once under its Key,
// no matter how often it is sent.
type Outgoing struct {
	Key      string
	Space    shoal.SpaceID
	Text     string
	Mentions []shoal.EntityID
	Wrong    string // the server's reason for a refusal; a refused message is not sent again
	sending  bool
}

// Draft returns the message in the form for posting.
func (o Outgoing) Draft() shoal.Draft {
	return shoal.Draft{Parts: []shoal.Part{shoal.Text(o.Text)}, Mentions: o.Mentions}
}

// Outbox contains the messages that are not posted yet, in the order of writing. They are sent
// one at a time to keep that order. Messages that could not be sent while the connection was
// lost are retried.
type Outbox struct{ all []Outgoing }

// Add appends a message and removes the refused messages of its space: to write again is
// to have seen the refusal.
func (b *Outbox) Add(o Outgoing) {
	b.all = slices.DeleteFunc(b.all, func(have Outgoing) bool { return have.Wrong != "" && have.Space == o.Space })
	b.all = append(b.all, o)
}

// Next returns the next message to send and marks it as being sent. It returns false if
// another message is being sent or none is left.
func (b *Outbox) Next() (o Outgoing, ok bool) {
	at := slices.IndexFunc(b.all, func(o Outgoing) bool { return o.Wrong == "" })
	if at < 0 || b.all[at].sending {
		return o, false
	}
	b.all[at].sending = true
	return b.all[at], true
}

// Posted removes a message that the server has stored.
func (b *Outbox) Posted(key string) {
	b.all = slices.DeleteFunc(b.all, func(o Outgoing) bool { return o.Key == key })
}

// Again marks a message for another try after a failure.
func (b *Outbox) Again(key string) { b.change(key, func(o *Outgoing) { o.sending = false }) }

// Refused records that the server refused a message, and why.
func (b *Outbox) Refused(key, why string) { b.change(key, func(o *Outgoing) { o.Wrong = why }) }

func (b *Outbox) change(key string, with func(*Outgoing)) {
	for i := range b.all {
		if b.all[i].Key == key {
			with(&b.all[i])
		}
	}
}

// Of returns the messages of a space that are not posted yet.
func (b *Outbox) Of(space shoal.SpaceID) []Outgoing {
	var all []Outgoing
	for _, o := range b.all {
		if o.Space == space {
			all = append(all, o)
		}
	}
	return all
}

// Left returns the number of messages that are not posted, without refused ones.
func (b *Outbox) Left() int {
	n := 0
	for _, o := range b.all {
		if o.Wrong == "" {
			n++
		}
	}
	return n
}
