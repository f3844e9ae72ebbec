package chatapi

import (
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/exchange"
)

// Open opens an exchange for a request, and counts it as a stream of the caller until end is called.
func (o *Options) Open(r *http.Request, caller shoal.Principal, session shoal.SessionID, space shoal.SpaceID) (x *exchange.Exchange, end func(), err error) {
	if err := o.Limits.Open(caller); err != nil {
		return nil, nil, err
	}
	x, err = exchange.Open(r.Context(), exchange.Options{Hub: o.Hub, Who: caller, Session: session, Space: space, Heartbeat: o.Heartbeat})
	if err != nil {
		o.Limits.Close(caller)
		return nil, nil, err
	}
	return x, func() { x.Close(); o.Limits.Close(caller) }, nil
}
