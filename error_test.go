package shoal_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/shoal-dev/shoal"
)

// A kind is found however deeply an error is wrapped; the outermost decides.
func TestKinds(t *testing.T) {
	inner := shoal.E("hub.Post", shoal.NotFound, "There is no space.")
	for name, c := range map[string]struct {
		err  error
		kind shoal.Kind
		is   []shoal.Kind
	}{
		"none":          {nil, "", nil},
		"plain":         {inner, shoal.NotFound, []shoal.Kind{shoal.NotFound}},
		"wrapped":       {fmt.Errorf("post: %w", inner), shoal.NotFound, []shoal.Kind{shoal.NotFound}},
		"two kinds":     {&shoal.Error{Kind: shoal.Internal, Err: inner}, shoal.Internal, []shoal.Kind{shoal.Internal, shoal.NotFound}},
		"another error": {context.Canceled, shoal.Internal, nil},
		"a bare kind":   {fmt.Errorf("%w", shoal.Busy), shoal.Internal, []shoal.Kind{shoal.Busy}},
	} {
		if got := shoal.KindOf(c.err); got != c.kind {
			t.Errorf("%s: the kind is %q, want %q", name, got, c.kind)
		}
		for _, kind := range []shoal.Kind{shoal.NotFound, shoal.Internal, shoal.Busy} {
			want := false
			for _, k := range c.is {
				want = want || k == kind
			}
			if errors.Is(c.err, kind) != want {
				t.Errorf("%s is %s: %v, want %v", name, kind, !want, want)
			}
		}
	}
}

func TestErrorText(t *testing.T) {
	for want, err := range map[string]error{
		"not_found":                      &shoal.Error{Kind: shoal.NotFound},
		"hub.Post: not_found: No space.": shoal.E("hub.Post", shoal.NotFound, "No space."),
		"hub.Post: internal: Something broke.: disk is on fire": &shoal.Error{Op: "hub.Post", Kind: shoal.Internal, Msg: "Something broke.", Err: errors.New("disk is on fire")},
		"invalid_argument: body.name is missing":                shoal.Invalid("body.name", "is missing"),
	} {
		if err.Error() != want {
			t.Errorf("the error reads %q, want %q", err, want)
		}
	}
	if err := shoal.Invalid("body.name", "is missing"); len(err.Fields) != 1 || err.Fields[0] != (shoal.FieldError{Location: "body.name", Message: "is missing"}) {
		t.Errorf("the fields are %v", err.Fields)
	}
}
