package chat

import (
	"encoding/json"
	"strings"

	"github.com/shoal-dev/shoal"
)

// Decision is the answer to a permission. An empty reason is none; remember makes
// it that of later calls with the same arguments, too, for a day.
func Decision(yes, remember bool, reason string) shoal.PendingAnswer {
	a := shoal.PendingAnswer{Approved: &yes}
	if reason != "" {
		a.Reason = &reason
	}
	if remember {
		a.Remember = &shoal.Remember{Decision: shoal.RememberDeny}
		if yes {
			a.Remember.Decision = shoal.RememberAllow
		}
	}
	return a
}

// TextAnswer is the answer that a text stands for: to a question the text, to a
// client tool its result as [Result] reads it. An empty kind counts as a client
// tool. A permission takes no text: InvalidArgument.
func TextAnswer(kind shoal.PendingKind, text string) (shoal.PendingAnswer, error) {
	switch kind {
	case shoal.PendingPermission:
		return shoal.PendingAnswer{}, shoal.E("chat.TextAnswer", shoal.InvalidArgument, "a permission is approved or denied")
	case shoal.PendingQuestion:
		return shoal.PendingAnswer{Answer: &text}, nil
	}
	result, err := Result(text)
	return shoal.PendingAnswer{Result: result}, err
}

// Result returns text as JSON: as it is if it is JSON, else as a string. The
// error, of kind InvalidArgument, is about a text that looks like JSON with a
// mistake in it.
func Result(text string) (json.RawMessage, error) {
	switch {
	case json.Valid([]byte(text)):
		return json.RawMessage(text), nil
	case text != "" && strings.ContainsAny(text[:1], `{["`):
		return nil, shoal.E("chat.Result", shoal.InvalidArgument, "the result begins like JSON and is none")
	}
	return shoal.EncodeJSON(text)
}
