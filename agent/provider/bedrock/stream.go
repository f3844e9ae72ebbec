package bedrock

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/shoal-dev/shoal/agent/provider/bedrock/internal/frame"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// open returns the function that reads the events of the model from the messages in which
// Bedrock sends them.
func open(x *wire.Exchange, body io.Reader) func() ([]byte, error) {
	messages, n := frame.NewReader(body, wire.MaxEvent), 0
	return func() ([]byte, error) {
		for {
			m, err := messages.Next()
			switch {
			case errors.Is(err, frame.ErrMalformed), errors.Is(err, frame.ErrTooLong):
				return nil, x.Malformed("", err)
			case err != nil:
				return nil, x.StreamError(err, n)
			}
			n++
			switch m.Headers[":message-type"] {
			case "exception":
				return nil, x.Failure(0, said(m.Headers[":exception-type"], m.Payload))
			case "error":
				message, err := json.Marshal(map[string]string{"message": m.Headers[":error-message"]})
				if err != nil {
					return nil, x.Malformed("an error cannot be read", err)
				}
				return nil, x.Failure(0, said(m.Headers[":error-code"], message))
			case "event":
			default:
				return nil, x.Malformed("a message of an unknown type", nil)
			}
			if m.Headers[":event-type"] != "chunk" {
				continue // of a kind that came later than this package
			}
			var chunk struct {
				Bytes []byte `json:"bytes"`
			}
			if err := json.Unmarshal(m.Payload, &chunk); err != nil || len(chunk.Bytes) == 0 {
				return nil, x.Malformed("a chunk has no bytes", err)
			}
			return wire.MarkHalves(chunk.Bytes), nil
		}
	}
}
