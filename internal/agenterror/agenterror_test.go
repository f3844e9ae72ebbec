package agenterror_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agenterror"
)

func TestConvert(t *testing.T) {
	inner := agent.Invalid("tools[0].name", "is missing")
	inner.Op, inner.Err = "agent.New", context.Canceled
	wrapped := fmt.Errorf("building: %w", inner)
	got := agenterror.Convert(wrapped)
	own, ok := errors.AsType[*shoal.Error](got)
	if !ok || own.Op != "agent.New" || own.Kind != shoal.InvalidArgument || own.Msg != "tools[0].name is missing" ||
		len(own.Fields) != 1 || own.Fields[0] != (shoal.FieldError{Location: "tools[0].name", Message: "is missing"}) {
		t.Errorf("%#v", own)
	}
	for _, target := range []error{shoal.InvalidArgument, agent.ErrInvalidArgument, context.Canceled, wrapped} {
		if !errors.Is(got, target) {
			t.Errorf("%v is not %v", got, target)
		}
	}
	if got.Error() != wrapped.Error() || shoal.KindOf(got) != shoal.InvalidArgument {
		t.Errorf("%v of kind %s, want the text %v", got, shoal.KindOf(got), wrapped)
	}
}

func TestConvertLeavesOtherErrors(t *testing.T) {
	product := fmt.Errorf("store: %w", shoal.E("hub.Read", shoal.Busy, "Try again."))
	for _, err := range []error{nil, context.Canceled, product} {
		if got := agenterror.Convert(err); got != err { //nolint:errorlint // the value itself comes back
			t.Errorf("%v became %v", err, got)
		}
	}
}

// Every kind of package agent is one that the product's transports know.
func TestKindsAreTheProductsOwn(t *testing.T) {
	for kind, want := range map[agent.ErrorKind]shoal.Kind{
		agent.ErrInvalidJSON: shoal.InvalidJSON, agent.ErrInvalidArgument: shoal.InvalidArgument, agent.ErrUnauthenticated: shoal.Unauthenticated,
		agent.ErrForbidden: shoal.Forbidden, agent.ErrNotFound: shoal.NotFound, agent.ErrConflict: shoal.Conflict, agent.ErrTooLarge: shoal.TooLarge,
		agent.ErrUnsupportedMediaType: shoal.UnsupportedMediaType, agent.ErrRateLimited: shoal.RateLimited, agent.ErrInternal: shoal.Internal,
		agent.ErrBusy: shoal.Busy, agent.ErrStorageFull: shoal.StorageFull,
	} {
		if got := shoal.KindOf(agenterror.Convert(agent.NewError("", kind, ""))); got != want {
			t.Errorf("%s becomes %s, want %s", kind, got, want)
		}
	}
}
