package chatapi

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
)

// Decode decodes the body of a request, which must be an object, into in. A body that is empty is refused
// with a sentence that says what to send.
func Decode(body []byte, in any, send string) error {
	if len(body) == 0 {
		return shoal.E("chatapi", shoal.InvalidJSON, "The body is empty. "+send)
	}
	err := json.Unmarshal(body, in)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil && body[0] != 'n': // null would leave in as it is
		return nil
	case errors.As(err, &wrong) && wrong.Field != "":
		return shoal.Invalid(wrong.Field, "must not be a "+wrong.Value)
	}
	return shoal.E("chatapi", shoal.InvalidJSON, "The body is not a JSON object.")
}

// Sizes checks the sizes of lists and texts of a request against their bounds.
type Sizes struct {
	// Bounds has the bound of each, by a name.
	Bounds map[string]int
	// Err refuses the first size above its bound. It is nil while all sizes are allowed.
	Err error
}

// Check checks something of a size in a unit, which is at a place of the request.
func (s *Sizes) Check(bound, at string, size int, unit string) {
	if most := s.Bounds[bound]; size > most && s.Err == nil {
		s.Err = shoal.Invalid(at, fmt.Sprintf("has %d %s; at most %d are allowed", size, unit, most))
	}
}
