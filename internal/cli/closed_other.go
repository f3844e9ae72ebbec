//go:build !unix

package cli

// Closed reports whether nobody can read what is written to Out any more. Here it is false until a
// write fails.
func (o *Output) Closed() bool { return false }
