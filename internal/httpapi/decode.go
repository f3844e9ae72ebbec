package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
)

// decode reads the body into the struct that in points to. A field that is null
// counts as left out; one that is not known is refused, for it is most often a
// known one misspelled. The error names every place that is wrong.
func (c *call) decode(in any) error {
	body := guard.Body(c.r)
	if len(body) == 0 {
		return shoal.E("httpapi.decode", shoal.InvalidJSON, "The body is empty. Send a JSON object.")
	}
	return bodyDecoder.Decode(body, in)
}

// decodeAny is decode for a body that may be left out.
func (c *call) decodeOptional(in any) error {
	if len(guard.Body(c.r)) == 0 {
		return nil
	}
	return c.decode(in)
}

// release lets go of the body, for a call that will be held for long.
func (c *call) dropBody() { c.r.Body = http.NoBody }

// actor checks an input that carries the actor's id.
func (c *call) actor(field string, id shoal.EntityID) error {
	if id == "" || c.who.EntityID == "" || id == c.who.EntityID {
		return nil // without an acting entity the hub says what is missing
	}
	return shoal.E("httpapi.actor", shoal.IdentityMismatch,
		fmt.Sprintf("%s is %q, but your key acts as %q: leave it out, or use that entity's key.", field, id, c.who.EntityID))
}

// value returns a query parameter, and whether it was given.
func (c *call) value(name string) (string, bool) {
	if c.params == nil {
		c.params = c.r.URL.Query()
	}
	return c.params.Get(name), c.params.Has(name)
}

// limit returns the parameter limit, clamped.
func (c *call) limit(fallback int) (int, error) {
	n, given, err := c.number("limit")
	if err != nil || !given {
		return fallback, err
	}
	return int(min(max(n, 1), shoal.MaxPage)), nil
}

// number returns a parameter that is a whole number. One too large to hold is
// as large as can be held.
func (c *call) number(name string) (n int64, given bool, err error) {
	text, given := c.value(name)
	if !given {
		return 0, false, nil
	}
	n, err = strconv.ParseInt(text, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, true, shoal.Invalid("query."+name, "must be a whole number")
	}
	return n, true, nil
}
