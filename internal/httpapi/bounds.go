package httpapi

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/httpapi/input"
)

// bodyDecoder decodes the bodies of all calls.
var bodyDecoder = input.NewDecoder(input.OfBodies)

// paramBounds are the bounds of query parameters and headers that are not ids.
var paramBounds = map[string]input.Bound{
	"cursor": {Bytes: shoal.MaxCursor}, "after": {Bytes: shoal.MaxCursor}, "q": {Bytes: 500}, "name": input.Line,
	"Last-Event-ID": {Bytes: shoal.MaxCursor}, "Idempotency-Key": {Bytes: shoal.MaxIdempotency},
	"sessionRef": input.Line, "status": input.Line, "act": {Bytes: 1000}, "target": input.Line, "by": input.Line, auth.SignedParam: input.Line,
}

func paramBound(name string) input.Bound {
	if b, found := paramBounds[name]; found {
		return b
	}
	return input.ID
}

// checkParams returns an error if a query parameter or Last-Event-ID is too long. Other headers
// are checked where they are read.
func (c *call) checkParams() error {
	for _, p := range c.rt.query {
		if p.kind != stringParam {
			continue
		}
		text, _ := c.value(p.name)
		if err := paramBound(p.name).CheckText("query."+p.name, len(text)); err != nil {
			return err
		}
	}
	return paramBound("Last-Event-ID").CheckText("header.Last-Event-ID", len(c.r.Header.Get("Last-Event-ID")))
}
