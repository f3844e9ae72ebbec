package shoal

import "encoding/json"

// CheckTrigger checks what a service hands in to start a run: its name, which is
// a line, and a payload of any JSON value, which may be left out. It names every
// wrong field in one [InvalidArgument] error; [TooLarge] for a payload over
// [MaxContent] bytes.
func CheckTrigger(serviceName string, payload json.RawMessage) error {
	if len(payload) > MaxContent {
		return E("", TooLarge, "payload is too large; it holds at most 256 KiB")
	}
	var p problems
	p.add(checkLine("serviceName", serviceName, MaxName, true))
	if !json.Valid(orNull(payload)) {
		p.add(Invalid("payload", "must be a JSON value"))
	} else {
		p.add(checkObject("payload", wrapped(orNull(payload)), MaxContent+16))
	}
	return p.err()
}
