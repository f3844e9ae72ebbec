package wire

import "io"

// Platform is a cloud that serves the models of a vendor on the vendor's own wire: at its own
// address, with its own authorization.
type Platform struct {
	// Vendor is the cloud. Its Explain is asked about failures that are not in the words of
	// the vendor whose model it is.
	Vendor
	// Path is that of a call, after the base URL, escaped.
	Path string
	// Sent is the name of the model in the bodies of requests whose platform has names of
	// its own; empty is the vendor's name.
	Sent string
	// Invalid is what is wrong with the options, nil for nothing.
	Invalid error
	// Version is the version of the wire, for those whose requests name it in their body
	// together with what the path or a header says elsewhere.
	Version string
	// Accept is the media type of the answers of a cloud that has its own.
	Accept string
	// Open returns the function that reads the next event, for a cloud that does not send
	// text/event-stream. Its error ends the answer.
	Open func(x *Exchange, body io.Reader) (next func() ([]byte, error))
}

// ExplainOver returns how failures are explained that are in the words of a vendor, else in
// those of the platform.
func (p *Platform) ExplainOver(vendor func(status int, said []byte) Problem) func(int, []byte) Problem {
	return func(status int, said []byte) Problem {
		if own := vendor(status, said); own.Code != "" || p.Explain == nil {
			return own
		}
		return p.Explain(status, said)
	}
}
