package input

import "github.com/shoal-dev/shoal"

// WithoutNullResult removes a null result that accompanies another answer: clients that send every
// field do that. Alone, null is a valid result.
func WithoutNullResult(a shoal.PendingAnswer) shoal.PendingAnswer {
	if string(a.Result) == "null" && (a.Error != nil || a.Approved != nil || a.Answer != nil) {
		a.Result = nil
	}
	return a
}
