package oauth

import (
	"errors"
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
)

// Error codes of OAuth.
const (
	badRequest  = "invalid_request"
	badGrant    = "invalid_grant"
	badClient   = "invalid_client"
	badTarget   = "invalid_target"
	badMetadata = "invalid_client_metadata"
	badRedirect = "invalid_redirect_uri"
)

// failure is an error in the words of OAuth.
type failure struct {
	Code  string `json:"error"`
	About string `json:"error_description"`
}

// Error implements error.
func (f *failure) Error() string { return f.Code + ": " + f.About }

func refuse(code, about string) error { return &failure{code, about} }

// unknownClient is the error for a client that is not stored.
func unknownClient(err error) error {
	if errors.Is(err, shoal.NotFound) {
		return refuse(badClient, "This server does not know the client. Register again.")
	}
	return err
}

// protocol serves an endpoint that programs call.
func (s *Server) protocol(do func(r *http.Request) (int, any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(s.Auth.From(r.Context(), r, guard.RequestID(w)))
		status, body, err := do(r)
		var wrong *failure
		switch {
		case err == nil:
			write(w, status, body)
		case errors.As(err, &wrong) && wrong.Code == badClient:
			write(w, http.StatusUnauthorized, wrong)
		case errors.As(err, &wrong):
			write(w, http.StatusBadRequest, wrong)
		case shoal.KindOf(err) == shoal.Unauthenticated:
			s.Auth.Refuse(r, guard.RequestID(w), shoal.Principal{}, "POST "+r.URL.Path, err)
			write(w, http.StatusBadRequest, failure{badGrant, guard.Public(err)})
		case shoal.KindOf(err) == shoal.InvalidArgument:
			write(w, http.StatusBadRequest, failure{badTarget, guard.Public(err)})
		default:
			guard.LogInternal(s.Log, r, guard.RequestID(w), err)
			guard.WriteProblem(w, err)
		}
	}
}
