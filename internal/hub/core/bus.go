package core

// Bus carries notifications and ephemeral events to the current subscribers, on this
// node and on others. It is not a record: everything that it loses is still in the
// store, unless it was never stored.
type Bus interface {
	// Publish sends n to every current subscriber of its topic. It never blocks and never
	// fails. The subscription of a slow receiver drops or joins notifications, see
	// [Subscription].
	Publish(n Notification)

	// Subscribe opens a subscription without topics.
	Subscribe() Subscription

	// Shared reports whether the bus can have subscribers on other servers. It does not change.
	Shared() bool

	// Watched reports whether anybody may be subscribed to topic, so that a publisher
	// need not create an ephemeral event that nobody would receive.
	Watched(topic string) bool
}

// Notification is a message on the bus. Without Event it has no content: it says that
// something of this topic changed in the store. With Event it is a complete ephemeral event.
// Receivers must not change Event.
type Notification struct {
	Topic string
	Event []byte
	// Place is the place of the message that a notification about inboxes is about: a reader
	// that knows all messages up to there need not read. It is 0 in notifications about
	// other topics and where the position is unknown.
	Place int64
	// Urgent says that an event must not wait for others that could be sent to other servers
	// together with it.
	Urgent bool
	// Remote says that the notification comes from another node: what this server remembers
	// of the runs that it executes does not include it.
	Remote bool
	// Missed says that ephemeral events of the topic may have been lost. It is set only
	// without Event. Receivers bring what they show of ephemeral state up to date from the
	// store.
	Missed bool
}

// Join returns one notification that replaces two to the same topic: it is remote if both are,
// and says that events were missed if one of them does.
func (n Notification) Join(o Notification) Notification {
	n.Remote, n.Missed = n.Remote && o.Remote, n.Missed || o.Missed
	if o.Place == 0 || n.Place != 0 && o.Place > n.Place {
		n.Place = o.Place
	}
	return n
}

// Subscription receives the notifications of its topics in a bounded queue. Notifications
// without an event to the same topic that have not been received yet are combined with
// [Notification.Join]. When the queue is full of ephemeral events, the newest are dropped.
type Subscription interface {
	// Add subscribes to topics and Remove unsubscribes from them. After Add returns, no
	// later notification of those topics is missed. Both may be repeated.
	Add(topics ...string)
	Remove(topics ...string)
	// Ready receives a value when Take may return something. One value may announce
	// many notifications.
	Ready() <-chan struct{}
	// Take returns the notifications that have arrived, in the order of publishing for each
	// topic, and empties the queue.
	Take() []Notification
	// Close ends the subscription. It may be repeated.
	Close()
}
