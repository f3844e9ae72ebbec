// Package chatapi is what the transports for chat clients have in common besides the exchange: their
// dependencies, who may call, and how an error is reported.
package chatapi

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/limit"
)

// Options are the dependencies and limits of a transport. Hub and Auth are required; the
// caller keeps ownership of them.
type Options struct {
	Hub  *hub.Hub
	Auth *auth.Authenticator
	// Log receives every internal error once; nil discards them.
	Log *slog.Logger
	// Limits bounds the calls and streams of principals, together with those of the
	// other transports; nil gives the transport its own limit.DefaultBounds.
	Limits *limit.Principals
	// Heartbeat is how often a stream gets a comment line and its key is checked
	// again, 15 s if zero.
	Heartbeat time.Duration
	// WriteTimeout is how long a client may take nothing of what is written to it
	// before it is disconnected, 10 s if zero.
	WriteTimeout time.Duration
}

// WithDefaults returns the options with what is left out filled in.
func (o Options) WithDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Heartbeat = cmp.Or(o.Heartbeat, 15*time.Second)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 10*time.Second)
	if o.Limits == nil {
		o.Limits = limit.NewPrincipals(limit.DefaultBounds, nil)
	}
	return o
}

// Caller returns the caller of a request, which acts as an entity, and counts the call.
func (o *Options) Caller(r *http.Request) (shoal.Principal, error) {
	caller, err := o.Auth.Bearer(r)
	switch {
	case err != nil:
		return caller, err
	case caller.EntityID != "":
		return caller, o.Limits.Call(caller)
	case caller.Admin():
		return caller, shoal.E("chatapi", shoal.EntityRequired, "Name the entity that you act as in the header X-Shoal-Entity, or use an entity key.")
	}
	return caller, shoal.E("chatapi", shoal.Forbidden, "A service acts as no entity; use an entity key.")
}

// CheckCaller checks that the key of a request is still that of the caller.
func (o *Options) CheckCaller(r *http.Request, caller shoal.Principal) error {
	now, err := o.Auth.Bearer(r)
	if err == nil && now != caller {
		err = shoal.E("chatapi", shoal.Unauthenticated, "The key has changed.")
	}
	return err
}

// Report returns the error of a request as the client sees it, and logs an internal one with failed as
// its message. stopping is what a client reads whose request the end of the server has cut off.
func (o *Options) Report(w http.ResponseWriter, r *http.Request, err error, failed, stopping string) error {
	stopped := r.Context().Err() != nil || errors.Is(err, core.ErrStopping) || errors.Is(err, context.Canceled)
	if stopped && shoal.KindOf(err) == shoal.Internal {
		return shoal.E("chatapi", shoal.Busy, stopping)
	}
	if guard.Status(shoal.KindOf(err)) == http.StatusInternalServerError {
		o.Log.Error(failed, "request", guard.RequestID(w), "path", r.URL.Path, "error", err)
	}
	caller, _ := o.Auth.Bearer(r) // empty without a key that works
	o.Auth.Refuse(r, guard.RequestID(w), caller, "chat", err)
	return err
}
