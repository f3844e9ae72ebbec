package login

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// callback is where the browser comes back to on this machine.
const callback = "/callback"

// Await waits until the browser comes back to the listener with the answer of the person, and returns the code. It
// closes the listener. It fails with Forbidden if the person has refused. What another page or program
// sends to the address is answered, and does not end the wait.
func (a *Attempt) Await(ctx context.Context, back net.Listener) (string, error) {
	type outcome struct {
		code string
		err  error
	}
	done := make(chan outcome, 1)
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		code, err := a.read(r.URL.Query())
		if r.URL.Path != callback || errors.Is(err, errOther) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "<!doctype html><title>Shoal</title><p>This is not the answer that `shoal login` waits for. Start again in the terminal.") // the browser may be gone
			return
		}
		said := "<!doctype html><title>Shoal</title><p>You are signed in on the command line. You can close this window."
		if err != nil {
			said = "<!doctype html><title>Shoal</title><p>You are not signed in on the command line. You can close this window."
		}
		_, _ = io.WriteString(w, said) // the browser may be gone
		select {
		case done <- outcome{code, err}:
		default: // the first answer counts
		}
	})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(back) // ends with Shutdown
	}()
	var out outcome
	select {
	case out = <-done:
	case <-ctx.Done():
		out.err = context.Cause(ctx)
	}
	// The browser still gets its answer.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = server.Shutdown(ctx) // what is left of it ends with the process
	<-ended
	return out.code, out.err
}

// errOther is an answer that belongs to another sign-in.
var errOther = shoal.E("", shoal.InvalidArgument, "the answer belongs to another sign-in: its state or its issuer is another one")

// read returns the code in an answer to this attempt.
func (a *Attempt) read(in url.Values) (string, error) {
	switch {
	case in.Get("state") != a.state || in.Get("iss") != a.server.url:
		return "", errOther
	case in.Get("error") == "access_denied":
		return "", shoal.E("", shoal.Forbidden, "you have refused in the browser. Nothing was changed")
	case in.Get("error") != "":
		return "", shoal.E("", shoal.Forbidden, "the server refuses: "+in.Get("error_description"))
	case in.Get("code") == "":
		return "", errOther
	}
	return in.Get("code"), nil
}

// Ask reads the code that the browser shows, and the person pastes, from a reader. A line that is not a code
// of this attempt is said, and another one is read.
func (a *Attempt) Ask(ctx context.Context, in io.Reader, say func(format string, args ...any)) (string, error) {
	type line struct {
		text string
		err  error
	}
	lines := make(chan line)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // a read of a terminal cannot be interrupted: it ends with the process
		for r := bufio.NewReader(io.LimitReader(in, 1<<20)); ; {
			text, err := r.ReadString('\n')
			select {
			case lines <- line{strings.TrimSpace(text), err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	for {
		say("Code: ")
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case l := <-lines:
			code, state, cut := strings.Cut(l.text, ".")
			switch {
			case cut && code != "" && state == a.state:
				return code, nil
			case l.err != nil:
				return "", shoal.E("", shoal.Unauthenticated, "no code was given: open the address, allow it, and paste the code that the page shows")
			case cut && code != "":
				say("This code belongs to another sign-in. Open the address above, and paste the code that it shows.\n")
			case l.text != "":
				say("This is not the code, which the page shows when you have allowed it.\n")
			}
		}
	}
}
