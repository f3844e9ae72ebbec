package core

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// CheckIdempotencyKey checks an idempotency key. An empty key is valid and means that the
// call is not idempotent.
func CheckIdempotencyKey(key string) error {
	if len(key) > shoal.MaxIdempotency {
		return shoal.Invalid("idempotencyKey", fmt.Sprintf("has %d characters; at most %d are allowed", len(key), shoal.MaxIdempotency))
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return shoal.Invalid("idempotencyKey", "may contain only visible ASCII characters")
		}
	}
	return nil
}

// Fingerprint returns a hash of a request. Two calls have the same fingerprint if their
// requests are equal.
func Fingerprint(request ...any) (string, error) {
	b, err := json.Marshal(request)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// IdempotencyMismatch returns the error for an idempotency key that was used with another
// request.
func IdempotencyMismatch(key string) error {
	return shoal.E("", shoal.IdempotencyMismatch, fmt.Sprintf("The idempotency key %q was used before with other content. Repeat the very same call, or use a new key.", key))
}

// Once runs do, unless the caller has made the same request under this key before: then it
// returns the first response, and replayed is true. request is what makes two calls the
// same. With an empty key it always runs do.
func Once[T any](ch *Change, caller shoal.Principal, session shoal.SessionID, route, key string, request any, do func() (T, error)) (answer T, replayed bool, err error) {
	if key == "" {
		answer, err = do()
		return answer, false, err
	}
	hash, err := Fingerprint(request)
	if err != nil {
		return answer, false, err
	}
	at := storage.AnswerKey{Session: session, Scope: CallerName(caller), Route: route, Key: key}
	stored, err := ch.Answer(at)
	isNew := errors.Is(err, shoal.NotFound) || err == nil && ch.At.Sub(stored.At.Time) > shoal.IdempotencyWindow
	switch {
	case err != nil && !isNew:
		return answer, false, err
	case !isNew && stored.Hash != hash:
		return answer, false, IdempotencyMismatch(key)
	case !isNew:
		err = json.Unmarshal(stored.Body, &answer)
		return answer, true, err
	}
	if answer, err = do(); err != nil {
		return answer, false, err
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return answer, false, err
	}
	return answer, false, ch.InsertAnswer(at, storage.Answer{Hash: hash, Body: body, At: ch.At})
}

// CallerName names the caller for idempotency keys: keys of one caller never collide with those of
// another.
func CallerName(caller shoal.Principal) string {
	switch {
	case caller.EntityID != "":
		return "entity:" + string(caller.EntityID)
	case caller.Role == shoal.RoleService:
		return "service:" + string(caller.KeyID)
	}
	return "admin:" + string(caller.KeyID)
}
