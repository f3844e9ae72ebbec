// Package doctor checks a server and its dependencies: the configuration, the data
// directory, the database, and, if the server responds, its reachability for every kind
// of caller.
//
//	doctor.Examine(ctx, doctor.Options{URL: "http://127.0.0.1:7462", Data: dir}, func(f doctor.Finding) { … })
//
// Guarantees:
//   - Nothing is changed: no message is written or acknowledged, no file is made.
//   - Each finding that is not well says what to do about it, and none holds a secret.
//   - It ends within a bounded time, also beside a server that hangs.
package doctor

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/connect"
)

// Status is how a check went.
type Status string

// The statuses: all is well; something to know or mend, the server works; something
// does not work.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Finding is what one check found.
type Finding struct {
	// Check names what was checked.
	Check string `json:"check"`
	// Status is how it is.
	Status Status `json:"status"`
	// Detail says what was found, in one line.
	Detail string `json:"detail"`
	// Try says what to do; empty if nothing.
	Try string `json:"try"`
}

// Options say what to examine.
type Options struct {
	// URL is where the server should answer, Key the secret of the caller. Session and As
	// are the session and entity to act as; As may be empty.
	URL string
	// HTTP makes the requests; nil is the usual client.
	HTTP    *http.Client
	Key     string
	Session shoal.SessionID
	As      shoal.EntityID
	// Here says that the server runs on this machine, so that its directory and
	// database can be checked. Config is what it would be started with.
	Here   bool
	Config app.Config
	// File is the configuration file, empty without one; FileErr why it cannot be used.
	File    string
	FileErr error
	// Version is the version of this program.
	Version string
	// Wait is how long the wait through the whole path is, a second if 0. A longer one
	// finds out what cuts waits on their way.
	Wait time.Duration
	// Machine is where the clients of the user have their files; nil skips them.
	Machine *connect.Machine
	// Environ looks up a variable of the environment.
	Environ func(name string) string
}

// examination is one examination under way.
type examination struct {
	Options
	found func(Finding)

	client *client.Client // of a server that answers
	role   shoal.Role     // of the key
}

func (x *examination) ok(check, detail string)        { x.found(Finding{check, OK, detail, ""}) }
func (x *examination) warn(check, detail, try string) { x.found(Finding{check, Warn, detail, try}) }
func (x *examination) fail(check, detail, try string) { x.found(Finding{check, Fail, detail, try}) }

// Examine runs all checks in order, calls found with each finding, and returns after
// the last one. It skips checks that need a running server if none responds.
func Examine(ctx context.Context, o Options, found func(Finding)) {
	if o.HTTP == nil {
		o.HTTP = http.DefaultClient
	}
	if o.Wait <= 0 {
		o.Wait = time.Second
	}
	x := &examination{Options: o, found: found}
	x.ok("program", "shoal "+o.Version)
	x.configuration()
	if o.Here {
		x.directory()
		x.keyFiles()
		x.space()
		x.database(ctx)
		x.models()
	}
	x.clients()
	if !x.server(ctx) || !x.caller(ctx) {
		return
	}
	x.nodes(ctx)
	x.protocols(ctx)
	x.stream(ctx)
	x.wait(ctx)
	x.agents(ctx)
	x.keys(ctx)
}

// message is what an error says to people.
func message(err error) string {
	var e *shoal.Error
	if errors.As(err, &e) && e.Msg != "" {
		return strings.TrimSuffix(e.Msg, ".")
	}
	return err.Error()
}
