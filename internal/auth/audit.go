package auth

import (
	"context"
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/limit"
)

// requestOrigin is where a request comes from, for the audit log.
type requestOrigin struct {
	auth *Authenticator
	r    *http.Request
	id   string
}

// Origin implements [audit.Source].
func (o *requestOrigin) Origin() audit.Origin {
	return audit.Origin{Address: o.auth.address(o.r), RequestID: o.id}
}

// Context returns ctx, of a request with an id, for the operations of its caller: it carries the caller
// for internal/limit, and the origin of the request for the audit log.
func (a *Authenticator) Context(ctx context.Context, r *http.Request, id string, caller shoal.Principal) context.Context {
	return limit.As(a.From(ctx, r, id), caller)
}

// From returns ctx with the origin of a request for the audit log.
func (a *Authenticator) From(ctx context.Context, r *http.Request, id string) context.Context {
	return audit.From(ctx, &requestOrigin{a, r, id})
}

// Refuse records in the audit log that the call of a request was refused with err, if that was because
// of its caller, which is empty if it is not known. call names the operation, without anything that the
// client has chosen.
func (a *Authenticator) Refuse(r *http.Request, id string, caller shoal.Principal, call string, err error) {
	if err != nil {
		a.hub.Audits.Refuse(a.From(r.Context(), r, id), caller, call, err)
	}
}

// signingIn returns the context of a request that begins or ends a sign-in.
func (a *Authenticator) signingIn(w http.ResponseWriter, r *http.Request) context.Context {
	return a.From(r.Context(), r, guard.RequestID(w))
}
