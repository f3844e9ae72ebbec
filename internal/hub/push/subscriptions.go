package push

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

const (
	// maxDevices is how many browsers of a person are notified; one more replaces the one that was
	// opened longest ago.
	maxDevices = 10
	// life is how long a subscription lasts after the console was opened in its browser.
	life = 30 * 24 * time.Hour
	// MaxEndpoint is the longest address of a push service, in bytes.
	MaxEndpoint = 1024
)

// Push are the browsers in which people are notified.
type Push struct{ core *core.Core }

// New returns the subscriptions of a hub.
func New(c *core.Core) *Push { return &Push{c} }

// NewSubscription is the input that subscribes a browser: what its PushSubscription says, the keys in
// base64 for URLs without padding.
type NewSubscription struct {
	Endpoint string `json:"endpoint"`
	P256dh   string `json:"p256dh"`
	Auth     string `json:"auth"`
}

// SubscriptionPage are the browsers in which an entity is notified. PublicKey is the key of the server that
// browsers ask for.
type SubscriptionPage struct {
	Items      []storage.PushSubscription `json:"items"`
	NextCursor *string                    `json:"nextCursor"`
	PublicKey  string                     `json:"publicKey"`
}

// List returns the browsers in which the acting entity is notified, in the order of their creation.
func (p *Push) List(ctx context.Context, caller shoal.Principal, session shoal.SessionID) (out SubscriptionPage, err error) {
	const op = "hub.Push.List"
	entity, err := subscriber(caller, session)
	if err != nil {
		return out, core.Wrap(op, err)
	}
	key, err := p.Key(ctx)
	if err != nil {
		return out, err
	}
	err = p.core.View(ctx, op, func(tx storage.Tx) error {
		if _, err := core.FindSession(tx, session); err != nil {
			return err
		}
		found, err := tx.Pushes(session, entity, shoal.Now())
		out = SubscriptionPage{Items: []storage.PushSubscription{}, PublicKey: base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes())}
		for _, s := range found {
			out.Items = append(out.Items, s.PushSubscription)
		}
		return err
	})
	return out, err
}

// Subscribe notifies the acting entity, a human, in a browser from now on, until the sign-in or key
// of the caller ends, or for 30 days if it does not. It replaces the subscription with the same
// endpoint, also that of another entity: a browser notifies one person. It fails with Forbidden for agents, for
// keys with scopes, which may not show all spaces, and for endpoints that are not https.
func (p *Push) Subscribe(ctx context.Context, caller shoal.Principal, session shoal.SessionID, in NewSubscription) (out storage.PushSubscription, err error) {
	const op = "hub.Push.Subscribe"
	entity, err := subscriber(caller, session)
	if err == nil {
		err = in.validate()
	}
	if err != nil {
		return out, core.Wrap(op, err)
	}
	err = p.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		if _, err := core.FindSession(ch, session); err != nil {
			return err
		}
		if err := checkHuman(ch, session, entity); err != nil {
			return err
		}
		s, err := newPush(ch, caller, session, entity, in)
		if err != nil {
			return err
		}
		if err := errors.Join(ch.SavePush(s), dropOldest(ch, session, entity)); err != nil {
			return err
		}
		out = s.PushSubscription
		if s.CreatedAt != ch.At { // the console was opened again
			return nil
		}
		return ch.Record(caller, session, audit.PushCreate, audit.Target{Kind: "push", ID: string(s.ID)})
	})
	return out, err
}

// newPush returns the subscription to store: that of the entity with the same endpoint, renewed, or
// a new one, which notifies of nothing that has happened before.
func newPush(ch *core.Change, caller shoal.Principal, session shoal.SessionID, entity shoal.EntityID, in NewSubscription) (storage.Push, error) {
	s, err := ch.PushAt(in.Endpoint)
	if errors.Is(err, shoal.NotFound) || err == nil && (s.Session != session || s.Entity != entity) {
		s = storage.Push{Session: session, Entity: entity, OpenedAt: ch.At}
		s.ID, s.CreatedAt = shoal.NewID[storage.PushID]("psh_"), ch.At
		s.Place, err = ch.InboxEnd(session)
	}
	if err != nil {
		return s, err
	}
	s.Target, s.ExpiresAt, s.Key = storage.PushTarget(in), shoal.At(ch.At.Add(life)), caller.KeyID
	if caller.SignIn != "" {
		s.Key = caller.SignIn
	}
	key, err := ch.Key(s.Key)
	if errors.Is(err, shoal.NotFound) { // a server that requires no keys
		return s, nil
	}
	if key.Device != nil {
		s.Device = *key.Device
	}
	if key.ExpiresAt != nil && key.ExpiresAt.Before(s.ExpiresAt.Time) {
		s.ExpiresAt = *key.ExpiresAt
	}
	return s, err
}

// dropOldest deletes the subscriptions of an entity that are too many.
func dropOldest(ch *core.Change, session shoal.SessionID, entity shoal.EntityID) error {
	all, err := ch.Pushes(session, entity, ch.At)
	for ; err == nil && len(all) > maxDevices; all = all[1:] {
		err = ch.DeletePush(session, entity, all[0].ID)
	}
	return err
}

// Unsubscribe ends a subscription of the acting entity; NotFound if it has none of that id.
func (p *Push) Unsubscribe(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id storage.PushID) error {
	const op = "hub.Push.Unsubscribe"
	entity, err := subscriber(caller, session)
	if err != nil {
		return core.Wrap(op, err)
	}
	return p.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		if _, err := core.FindSession(ch, session); err != nil {
			return err
		}
		unknown := shoal.E("", shoal.NotFound, fmt.Sprintf("Subscription %q not found among yours.", id))
		if !core.ValidID(id) {
			return unknown
		}
		if err := ch.DeletePush(session, entity, id); errors.Is(err, shoal.NotFound) {
			return unknown
		} else if err != nil {
			return err
		}
		return ch.Record(caller, session, audit.PushDelete, audit.Target{Kind: "push", ID: string(id)})
	})
}

// Drop deletes a subscription that its push service no longer knows. It checks no rights.
func (p *Push) Drop(ctx context.Context, session shoal.SessionID, id storage.PushID) error {
	return p.core.Change(ctx, "hub.Push.Drop", storage.NoSession, func(ch *core.Change) error {
		if err := ch.DeletePush(session, "", id); !errors.Is(err, shoal.NotFound) {
			return err
		}
		return nil
	})
}

// subscriber returns the acting entity of a caller that may subscribe. Notifications come from all
// spaces, and outlive the call: no scope limits them.
func subscriber(caller shoal.Principal, session shoal.SessionID) (shoal.EntityID, error) {
	if err := core.CheckSession(caller, session); err != nil {
		return "", err
	}
	if caller.Scopes != "" {
		return "", shoal.E("", shoal.Forbidden, fmt.Sprintf("This key has the scopes %q: to be notified in browsers takes a key without scopes.", caller.Scopes))
	}
	if err := core.Authorize(caller, session, roles.KeepInbox); err != nil {
		return "", err
	}
	return core.ActingEntity(caller)
}

func checkHuman(tx core.Tx, session shoal.SessionID, id shoal.EntityID) error {
	e, err := tx.Entity(session, id)
	if errors.Is(err, shoal.NotFound) {
		return core.EntityNotFound(id)
	}
	if err == nil && e.Kind != shoal.Human {
		err = shoal.E("", shoal.Forbidden, "Only people are notified in browsers. An agent waits for its mentions.")
	}
	return err
}

func (s NewSubscription) validate() error {
	u, err := url.Parse(s.Endpoint)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" || len(s.Endpoint) > MaxEndpoint {
		return shoal.Invalid("endpoint", fmt.Sprintf("must be the https URL of a push service, with at most %d bytes", MaxEndpoint))
	}
	if key, err := base64.RawURLEncoding.DecodeString(s.P256dh); err != nil || !validPoint(key) {
		return shoal.Invalid("p256dh", "must be a public key on the curve P-256, 65 bytes in base64 for URLs")
	}
	if secret, err := base64.RawURLEncoding.DecodeString(s.Auth); err != nil || len(secret) != 16 {
		return shoal.Invalid("auth", "must be 16 bytes in base64 for URLs")
	}
	return nil
}
