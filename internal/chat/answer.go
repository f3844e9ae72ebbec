package chat

import (
	"encoding/json"
	"strings"

	"github.com/shoal-dev/shoal"
)

// Decision returns the answer to a permission. An empty reason is omitted. With remember, the
// answer also applies to later calls with the same arguments for one day.
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

// TextAnswer returns the answer that a text represents: the text itself for a question, the
// result as parsed by [Result] for a client tool. An empty kind counts as a client tool. For a
// permission the error is InvalidArgument.
func TextAnswer(kind shoal.PendingKind, text string) (shoal.PendingAnswer, error) {
	switch kind {
	case shoal.PendingPermission:
		return shoal.PendingAnswer{}, shoal.E("chat.TextAnswer", shoal.InvalidArgument, "a permission cannot be answered with a text: approve or deny it")
	case shoal.PendingQuestion:
		return shoal.PendingAnswer{Answer: &text}, nil
	}
	result, err := Result(text)
	return shoal.PendingAnswer{Result: result}, err
}

// Result returns text as JSON: unchanged if it is JSON, otherwise as a string. For a text that
// looks like JSON with a mistake the error is InvalidArgument.
func Result(text string) (json.RawMessage, error) {
	switch {
	case json.Valid([]byte(text)):
		return json.RawMessage(text), nil
	case text != "" && strings.ContainsAny(text[:1], `{["`):
		return nil, shoal.E("chat.Result", shoal.InvalidArgument, "the result starts like JSON but is not valid JSON")
	}
	return shoal.EncodeJSON(text)
}
