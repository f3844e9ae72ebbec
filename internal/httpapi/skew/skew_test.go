package skew_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/httpapi/skew"
)

func TestExplain(t *testing.T) {
	unknown := &shoal.Error{Kind: shoal.InvalidArgument, Msg: "colour is not a field of this call", Err: skew.ErrUnknown, Fields: []shoal.FieldError{{Location: "body.colour"}}}
	invalid := shoal.Invalid("body.name", "is too long")
	missing := shoal.E("", shoal.NotFound, "No such space.")
	ours := "This server speaks version " + shoal.APIVersion + " of the API, and the client was built for "
	for _, c := range []struct {
		sent []string
		err  error
		want string
	}{
		{[]string{"1.9"}, unknown, "server_too_old: " + ours + "1.9. Upgrade the server, or use a client of version 1.0. Refused: colour is not a field of this call"},
		{[]string{"2.0"}, unknown, "server_too_old: " + ours + "2.0. Upgrade the server, or use a client of version 1.0. Refused: colour is not a field of this call"},
		{[]string{"0.9"}, unknown, "client_too_old: " + ours + "0.9. Upgrade the client. Refused: colour is not a field of this call"},
		{[]string{"1.9"}, invalid, "invalid_argument: body.name is too long. That may be because the versions differ. " + ours + "1.9. Upgrade the server, or use a client of version 1.0."},
		{[]string{"0.9"}, invalid, "invalid_argument: body.name is too long. That may be because the versions differ. " + ours + "0.9. Upgrade the client."},
		{[]string{"1.9"}, missing, "not_found: No such space."},
		{[]string{"1.0"}, unknown, "invalid_argument: colour is not a field of this call"},
		{nil, unknown, "invalid_argument: colour is not a field of this call"},
		{[]string{"1.9", "1.9"}, unknown, "invalid_argument: colour is not a field of this call"},
		{[]string{"new <b>"}, unknown, "invalid_argument: colour is not a field of this call"},
		{[]string{"99999999.0"}, unknown, "invalid_argument: colour is not a field of this call"},
		{[]string{"1.9"}, errors.New("broken"), "internal: broken"},
	} {
		got := skew.Explain(http.Header{skew.Header: c.sent}, c.err)
		var e *shoal.Error
		text := string(shoal.KindOf(got)) + ": " + got.Error()
		if errors.As(got, &e) {
			text = string(e.Kind) + ": " + e.Msg
		}
		if text != c.want {
			t.Errorf("%q, %v:\n%s\nwant\n%s", c.sent, c.err, text, c.want)
		}
		if errors.Is(c.err, skew.ErrUnknown) && len(e.Fields) != 1 {
			t.Errorf("%q: the fields are %v", c.sent, e.Fields)
		}
	}
}
