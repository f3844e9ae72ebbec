package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
)

// decode decodes the body into the struct that in points to, with unknown fields
// refused, and checks its bounds. The body is required.
func (c *call) decode(in any) error {
	body := guard.Body(c.r)
	if len(body) == 0 {
		return shoal.E("httpapi.decode", shoal.InvalidJSON, "The body is empty. Send a JSON object.")
	}
	return bodyDecoder.Decode(body, in)
}

// decoded makes a handler of do, which gets the decoded body, and whose result is the response.
func decoded[In, Out any](status int, do func(*call, In) (Out, error)) func(*call) error {
	return func(c *call) error {
		var in In
		if err := c.decode(&in); err != nil {
			return err
		}
		out, err := do(c, in)
		return c.answerOr(err, status, out)
	}
}

// decodeOptional is decode for a body that may be left out.
func (c *call) decodeOptional(in any) error {
	if len(guard.Body(c.r)) == 0 {
		return nil
	}
	return c.decode(in)
}

// dropBody releases the memory of the body before a long wait.
func (c *call) dropBody() { c.r.Body = http.NoBody }

// actor returns an error if a field of the input names another actor than the key.
func (c *call) actor(field string, id shoal.EntityID) error {
	if id == "" || c.caller.EntityID == "" || id == c.caller.EntityID {
		return nil // without an acting entity the hub returns the error
	}
	return shoal.E("httpapi.actor", shoal.IdentityMismatch,
		fmt.Sprintf("%s is %q, but your key acts as %q: leave it out, or use that entity's key.", field, id, c.caller.EntityID))
}

// value returns a query parameter and whether the request has it.
func (c *call) value(name string) (string, bool) {
	if c.params == nil {
		c.params = c.r.URL.Query()
	}
	return c.params.Get(name), c.params.Has(name)
}

// limit returns the parameter limit, between 1 and MaxPage, or fallback without it.
func (c *call) limit(fallback int) (int, error) {
	n, given, err := c.number("limit")
	if err != nil || !given {
		return fallback, err
	}
	return int(min(max(n, 1), shoal.MaxPage)), nil
}

// number returns an integer parameter and whether the request has it. A number outside of the range
// of int64 counts as the nearest one inside.
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
