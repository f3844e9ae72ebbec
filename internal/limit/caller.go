package limit

import (
	"context"

	"github.com/shoal-dev/shoal"
)

// Caller is the unit that limits apply to: an entity with all its keys, otherwise a key, and
// an address before a key is known. An admin that acts as an entity is another caller than
// the entity itself, and so are the runs that the entity has requested. Callers are comparable.
type Caller struct {
	session shoal.SessionID
	entity  shoal.EntityID
	key     shoal.KeyID
	address string
	admin   bool
	runs    bool // the runs that the entity has requested
}

// Of returns the caller of a principal.
func Of(caller shoal.Principal) Caller {
	c := Caller{session: caller.SessionID, entity: caller.EntityID, admin: caller.Admin()}
	if c.entity == "" {
		c.key = caller.KeyID
	}
	return c
}

// From returns the caller of a request whose sender is not known, by its address.
func From(address string) Caller { return Caller{address: address} }

// Server is the server itself, which may use the share of admins: its writes for maintenance
// are not calls of anybody.
var Server = Caller{admin: true}

// Admin reports whether the caller may use the share of admins.
func (c Caller) Admin() bool { return c.admin }

// callerKey is the context key of the caller.
type callerKey struct{}

// As returns a context whose operations count for a principal.
func As(ctx context.Context, caller shoal.Principal) context.Context {
	return context.WithValue(ctx, callerKey{}, Of(caller))
}

// AsRunOf returns a context whose operations count for the runs that an entity has requested,
// apart from its calls. A run that no entity requested may use the share of admins.
func AsRunOf(ctx context.Context, session shoal.SessionID, requester shoal.EntityID) context.Context {
	return context.WithValue(ctx, callerKey{}, Caller{session: session, entity: requester, admin: requester == "", runs: true})
}

// For returns the caller of ctx, or [Server] if neither As nor AsRunOf has set one.
func For(ctx context.Context) Caller {
	if c, ok := ctx.Value(callerKey{}).(Caller); ok {
		return c
	}
	return Server
}
