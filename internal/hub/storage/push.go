package storage

import "github.com/shoal-dev/shoal"

// PushTx stores where the browsers of people accept notifications, and which server sends them.
// Nothing here belongs to an export.
type PushTx interface {
	// SavePush stores a subscription in the place of the one with the same endpoint, if there is
	// one.
	SavePush(s Push) error
	// PushAt returns the subscription with an endpoint, or NotFound.
	PushAt(endpoint string) (Push, error)
	// Pushes returns the subscriptions of an entity that have not expired, in the order of their
	// creation.
	Pushes(session shoal.SessionID, entity shoal.EntityID, at shoal.Time) ([]Push, error)
	// DeletePush deletes a subscription of an entity, or of any if entity is empty; NotFound if it
	// has none of that id.
	DeletePush(session shoal.SessionID, entity shoal.EntityID, id PushID) error
	// DeletePushesOf deletes the subscriptions of an entity.
	DeletePushesOf(session shoal.SessionID, entity shoal.EntityID) error
	// DeletePushesBy deletes the subscriptions of the sign-ins of a key, or of those by link if of
	// is empty.
	DeletePushesBy(of shoal.KeyID) error
	// DeleteExpiredPushes deletes the subscriptions that had expired at a time.
	DeleteExpiredPushes(at shoal.Time) error
	// PushDue returns at most limit subscriptions whose entity may have something new: an unread
	// mention or system message after Place, or an open pending action of the session, of others,
	// too, that was opened after OpenedAt and no later than upTo.
	PushDue(at, upTo shoal.Time, limit int) ([]Push, error)
	// MovePush stores what an entity was notified of, and if sent is set that it was now.
	MovePush(id PushID, place int64, openedAt shoal.Time, sent *shoal.Time) error
	// PushKey returns the private key of the servers of this database, empty if it has none. Then it
	// stores candidate, unless that is empty, too.
	PushKey(candidate string) (string, error)
	// HoldPush makes holder the server that sends, until a time, unless another one is at the time
	// now. It reports whether holder is.
	HoldPush(holder string, now, until shoal.Time) (bool, error)
}

// PushID names a subscription.
type PushID string

// Push is a browser in which an entity is notified. Key is its sign-in, or the key that the caller
// used. Place and OpenedAt are the place in the inbox, and the time, up to which it was notified.
type Push struct {
	PushSubscription
	Session  shoal.SessionID
	Entity   shoal.EntityID
	Key      shoal.KeyID
	Target   PushTarget
	Place    int64
	OpenedAt shoal.Time
}

// PushTarget is where a browser accepts notifications, and the keys that encrypt them for it: its
// public key and its secret, in base64 for URLs.
type PushTarget struct {
	Endpoint string
	P256dh   string
	Auth     string
}

// PushSubscription is what people see of a subscription. Device is what the browser runs on, empty if the
// caller did not sign in with one. LastSentAt is nil until something was sent.
type PushSubscription struct {
	ID         PushID      `json:"id"`
	Device     string      `json:"device"`
	CreatedAt  shoal.Time  `json:"createdAt"`
	ExpiresAt  shoal.Time  `json:"expiresAt"`
	LastSentAt *shoal.Time `json:"lastSentAt"`
}
