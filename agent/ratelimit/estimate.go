package ratelimit

import "github.com/shoal-dev/shoal/agent"

// requestSize is what is known of a call before it is made.
type requestSize struct {
	bytes  int
	output int // the most tokens that the answer may have, 0 if unknown
}

// fileBytes is what a file counts for, in bytes of text: its own size says little about
// its tokens.
const fileBytes = 6000

// What the provider adds to a request and to each message, in bytes of text.
const (
	requestBytes = 100
	messageBytes = 20
)

// sizeOf measures a request.
func sizeOf(req *agent.Request) requestSize {
	n := requestBytes + len(req.Instructions)
	for i := range req.Messages {
		n += messageBytes
		for _, p := range req.Messages[i].Parts {
			n += len(p.Text) + len(p.Opaque)
			if p.File != nil {
				n += fileBytes
			}
			if p.Call != nil {
				n += len(p.Call.Name) + len(p.Call.Arguments)
			}
			if p.Result != nil {
				n += len(p.Result.Text) + fileBytes*len(p.Result.Files)
			}
		}
	}
	for i := range req.Tools {
		n += len(req.Tools[i].Name) + len(req.Tools[i].Description) + len(req.Tools[i].Schema)
	}
	if req.Output != nil {
		n += len(req.Output.Schema)
	}
	return requestSize{bytes: n, output: req.Settings.MaxOutputTokens}
}

// estimate predicts the tokens of a call. It follows a report that exceeds it at once, and
// others slowly, so that it is rather too high.
type estimate struct {
	perByte float64 // tokens of a request for each byte
	output  float64 // tokens of an answer
}

func newEstimate() estimate { return estimate{perByte: 0.25, output: 1024} }

func (e *estimate) of(s requestSize) int64 {
	output := int64(e.output)
	if s.output > 0 {
		output = int64(s.output)
	}
	return int64(float64(s.bytes)*e.perByte) + 1 + output
}

// learn takes the provider's report about a call.
func (e *estimate) learn(s requestSize, used agent.Usage) {
	if s.bytes > 0 && used.InputTokens > 0 {
		follow(&e.perByte, float64(used.InputTokens)/float64(s.bytes))
	}
	follow(&e.output, float64(used.OutputTokens))
}

func follow(value *float64, seen float64) {
	if seen > *value {
		*value = seen
		return
	}
	*value += (seen - *value) / 8
}
