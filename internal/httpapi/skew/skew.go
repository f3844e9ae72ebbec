// Package skew explains refusals of requests whose client was built for another version of the API
// than that of this server. It is pure and safe for concurrent use.
package skew

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
)

// Header is the header in which a client names the version of the API that it was built for, and a
// response the version of the server: shoal.APIVersion.
const Header = "X-Shoal-Api"

// ErrUnknown is in the chain of an error about something of a request that this server does not
// have: a path, a method or a field.
var ErrUnknown = errors.New("not a part of this version of the API")

// Explain returns the error with which to refuse a request with these headers instead of err:
// ServerTooOld for something unknown if the client is newer than this server, ClientTooOld if its
// major version is older, with the sentence and the fields of err. An invalid argument of such a
// client stays one, and its sentence names both versions. Everything else is returned unchanged, also
// for clients that name no version or an unreadable one.
func Explain(h http.Header, err error) error {
	var refused *shoal.Error
	sent := h[Header]
	if len(sent) != 1 || !errors.As(err, &refused) {
		return err
	}
	theirs, ok := parse(sent[0])
	ours, _ := parse(shoal.APIVersion)
	if !ok {
		return err
	}
	var kind shoal.Kind
	var advice string
	switch {
	case theirs.major > ours.major, theirs.major == ours.major && theirs.minor > ours.minor:
		kind, advice = shoal.ServerTooOld, "Upgrade the server, or use a client of version "+shoal.APIVersion
	case theirs.major < ours.major:
		kind, advice = shoal.ClientTooOld, "Upgrade the client"
	default:
		return err
	}
	explained := *refused
	versions := fmt.Sprintf("This server speaks version %s of the API, and the client was built for %s. %s.", shoal.APIVersion, theirs, advice)
	switch {
	case errors.Is(err, ErrUnknown):
		explained.Kind, explained.Msg = kind, versions+" Refused: "+refused.Msg
	case refused.Kind == shoal.InvalidArgument:
		explained.Msg = strings.TrimSuffix(refused.Msg, ".") + ". That may be because the versions differ. " + versions
	default:
		return err
	}
	return &explained
}

// version is a version of the API. Within a major version a newer server does everything that an
// older one does.
type version struct{ major, minor uint64 }

func (v version) String() string { return fmt.Sprintf("%d.%d", v.major, v.minor) }

// parse reads a version such as 1.0.
func parse(text string) (v version, ok bool) {
	major, minor, found := strings.Cut(text, ".")
	var errs [2]error
	v.major, errs[0] = strconv.ParseUint(major, 10, 16)
	v.minor, errs[1] = strconv.ParseUint(minor, 10, 16)
	return v, found && errs[0] == nil && errs[1] == nil
}
