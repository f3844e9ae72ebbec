package chat

import (
	"slices"

	"github.com/shoal-dev/shoal"
)

// Outgoing is a message on its way to the server. Under its Key the server stores
// it once, however often it is sent.
type Outgoing struct {
	Key      string
	Space    shoal.SpaceID
	Text     string
	Mentions []shoal.EntityID
	Wrong    string // why the server refused it; it is not sent again then
	sending  bool
}

// Draft is the message as it is posted.
func (o Outgoing) Draft() shoal.Draft {
	return shoal.Draft{Parts: []shoal.Part{shoal.Text(o.Text)}, Mentions: o.Mentions}
}

// Outbox holds the messages that are not posted yet, in the order of their
// writing. They are sent one after the other, so that they stay in it. What could
// not be sent while the connection was lost waits for the next try.
type Outbox struct{ all []Outgoing }

// Add puts a message last, and takes away those of its space that were refused:
// whoever writes on has seen that.
func (b *Outbox) Add(o Outgoing) {
	b.all = slices.DeleteFunc(b.all, func(have Outgoing) bool { return have.Wrong != "" && have.Space == o.Space })
	b.all = append(b.all, o)
}

// Next returns the message to send now and takes it as being sent, unless another
// one is or nothing is left.
func (b *Outbox) Next() (o Outgoing, ok bool) {
	at := slices.IndexFunc(b.all, func(o Outgoing) bool { return o.Wrong == "" })
	if at < 0 || b.all[at].sending {
		return o, false
	}
	b.all[at].sending = true
	return b.all[at], true
}

// Posted takes a message away that the server has stored.
func (b *Outbox) Posted(key string) {
	b.all = slices.DeleteFunc(b.all, func(o Outgoing) bool { return o.Key == key })
}

// Again notes that a message did not get through: it is the next one again.
func (b *Outbox) Again(key string) { b.change(key, func(o *Outgoing) { o.sending = false }) }

// Refused notes that the server does not take a message, and why.
func (b *Outbox) Refused(key, why string) { b.change(key, func(o *Outgoing) { o.Wrong = why }) }

func (b *Outbox) change(key string, with func(*Outgoing)) {
	for i := range b.all {
		if b.all[i].Key == key {
			with(&b.all[i])
		}
	}
}

// Of returns the messages of a space that are not posted.
func (b *Outbox) Of(space shoal.SpaceID) []Outgoing {
	var all []Outgoing
	for _, o := range b.all {
		if o.Space == space {
			all = append(all, o)
		}
	}
	return all
}

// Left returns how many messages are not posted, those that were refused left out.
func (b *Outbox) Left() int {
	n := 0
	for _, o := range b.all {
		if o.Wrong == "" {
			n++
		}
	}
	return n
}
