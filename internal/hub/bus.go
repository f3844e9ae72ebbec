package hub

// Bus carries hints and passing events from where they arise to whoever watches
// now, on this node or on others. It is never the record: whatever it loses, the
// store still has.
type Bus interface {
	// Publish hands note to everybody who subscribes to its topic at this
	// moment. It never blocks and never fails: who is too slow is told so by
	// its own subscription.
	Publish(note Note)

	// Subscribe opens a subscription without topics.
	Subscribe() Subscription

	// Watched reports whether anybody may subscribe to topic now, so that a
	// passing event that nobody would see need not be made.
	Watched(topic string) bool
}

// Note is what travels. Without Event it is a hint, which is a notification without
// content: something of this topic changed in the store. With Event it is a passing
// event, complete in itself. Receivers must not change Event.
type Note struct {
	Topic string
	Event []byte
	// Place is the position of the inbox entry that a hint to an inbox is about: a
	// reader that knows all entries up to there need not read. It is 0 in every other
	// hint and where the position is unknown.
	Place int64
}

// Join returns the hint that stands for two to the same topic.
func (n Note) Join(o Note) Note {
	if o.Place == 0 || n.Place != 0 && o.Place > n.Place {
		n.Place = o.Place
	}
	return n
}

// Subscription receives the notes of its topics. It holds a bounded queue:
// hints to the same topic that are not taken yet are one, which is [Note.Join]; when
// the queue is full of passing events, the newest are dropped.
type Subscription interface {
	// Add starts and Remove ends the receiving of topics. After Add returns, no
	// later note of that topic is missed. Both may be repeated.
	Add(topics ...string)
	Remove(topics ...string)
	// Ready receives a value when there may be something to Take. One value may
	// stand for many notes.
	Ready() <-chan struct{}
	// Take returns what has arrived, in the order of publishing for each topic,
	// and empties the queue.
	Take() []Note
	// Close ends the subscription. It may be repeated.
	Close()
}
