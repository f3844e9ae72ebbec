package limit

import (
	"context"

	"github.com/shoal-dev/shoal"
)

// Caller is who is counted: an entity with all its keys, else a key; before a key is
// known, an address. An admin that acts as an entity is another caller than the
// entity. Callers can be compared.
type Caller struct {
	session shoal.SessionID
	entity  shoal.EntityID
	key     shoal.KeyID
	address string
	admin   bool
}

// Of returns as whom a principal is counted.
func Of(who shoal.Principal) Caller {
	c := Caller{session: who.SessionID, entity: who.EntityID, admin: who.Admin()}
	if c.entity == "" {
		c.key = who.KeyID
	}
	return c
}

// From returns as whom a request from an address is counted whose sender is not known.
func From(address string) Caller { return Caller{address: address} }

// Server is the server itself, which may use what is kept for admins: what it writes
// for runs and for its upkeep is nobody's call.
var Server = Caller{admin: true}

// Admin reports whether the caller may use what is kept for admins.
func (c Caller) Admin() bool { return c.admin }

// callerKey is where a context holds the caller.
type callerKey struct{}

// As returns a context in which everything is done for a principal.
func As(ctx context.Context, who shoal.Principal) context.Context {
	return context.WithValue(ctx, callerKey{}, Of(who))
}

// For returns for whom something is done under ctx: [Server] if As does not say.
func For(ctx context.Context) Caller {
	if c, ok := ctx.Value(callerKey{}).(Caller); ok {
		return c
	}
	return Server
}
