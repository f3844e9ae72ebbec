package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

const (
	// answerWithin bounds one question to the server.
	answerWithin = 10 * time.Second
	// promptly is how soon the first event of a stream must be there.
	promptly = 3 * time.Second
	// skewed is by how much two clocks may differ before it confuses people.
	skewed = 5 * time.Second
	// cutGrace is how much longer than asked a wait may take.
	cutGrace = 10 * time.Second
)

// server checks whether a Shoal server answers, and reports whether it does.
func (x *examination) server(ctx context.Context) bool {
	const check = "server"
	alive, header, err := x.health(ctx)
	if err != nil {
		x.fail(check, message(err), "start it with `shoal serve`, or name another with --url")
		if x.Here {
			x.port()
		}
		return false
	}
	if x.client, err = client.New(client.Options{URL: x.URL, HTTP: x.HTTP, Key: x.Key, As: x.As, RetryFor: -1}); err != nil {
		x.fail(check, message(err), "correct --url, --key or --as")
		return false
	}
	bounded, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if err := x.client.Ready(bounded); err != nil {
		x.fail(check, "it answers at "+x.URL+", but is not ready: "+message(err), "check its log; the usual cause is a full or failing disk")
	} else {
		x.ok(check, "it answers at "+x.URL)
	}
	if alive.Version == x.Version {
		x.ok("version", "server and command line are "+x.Version)
	} else {
		x.warn("version", fmt.Sprintf("the server is %s, this command line %s", alive.Version, x.Version), "use the same: restart the server with the new program, or install the server's version here")
	}
	x.clock(header)
	x.transport(ctx)
	return true
}

// health is what the server says of itself to everybody.
type health struct {
	Status  string `json:"status"`
	Version string `json:"version"`
}

func (x *examination) health(ctx context.Context) (health, http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	res, err := x.get(ctx, "/healthz")
	if err != nil {
		return health{}, nil, err
	}
	defer res.Body.Close()
	var said health
	body, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err == nil {
		err = json.Unmarshal(body, &said)
	}
	if err != nil || said.Status != "ok" {
		return said, nil, shoal.E("doctor.health", shoal.Internal, fmt.Sprintf("the server at %s (status %d) is not a Shoal server", x.URL, res.StatusCode))
	}
	return said, res.Header, nil
}

// get asks for a path, as nobody.
func (x *examination) get(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(x.URL, "/")+path, nil)
	if err != nil {
		return nil, shoal.E("doctor", shoal.InvalidArgument, x.URL+" is not a URL")
	}
	res, err := x.HTTP.Do(req)
	if err != nil {
		return nil, unreachable(x.URL, err)
	}
	return res, nil
}

func unreachable(at string, err error) error {
	var of *url.Error // which repeats the URL
	if errors.As(err, &of) {
		err = of.Err
	}
	return &shoal.Error{Op: "doctor", Kind: client.ErrUnreachable, Msg: fmt.Sprintf("no server answers at %s (%v)", at, err), Err: err}
}

// port checks whether the server could listen on its address.
func (x *examination) port() {
	const check = "port"
	addr := x.Config.Addr
	l, err := net.Listen("tcp", addr)
	if err != nil {
		x.fail(check, fmt.Sprintf("%s cannot be used: %v", addr, err), "end what uses it (`ss -ltnp` shows that), or choose another with --addr")
		return
	}
	_ = l.Close() // nothing came through it
	x.ok(check, addr+" is free")
}

func (x *examination) clock(header http.Header) {
	const check = "clock"
	there, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return // a proxy has taken the time away
	}
	if off := time.Since(there).Round(time.Second); off.Abs() > skewed {
		x.warn(check, fmt.Sprintf("the server's clock and this one are %s apart", off.Abs()), "let both machines keep their time with NTP; expiry of keys and times of plans go by the server's")
		return
	}
	x.ok(check, "the server's and this one agree")
}

// caller checks the key, and reports whether it proves a principal.
func (x *examination) caller(ctx context.Context) bool {
	const check = "key"
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	me, err := x.client.Me(ctx)
	switch {
	case errors.Is(err, shoal.Unauthenticated) && x.Key == "":
		x.fail(check, "no key is set", "set one with --key or SHOAL_KEY; on the server's machine, --data DIR finds the operator's key")
		return false
	case err != nil:
		x.fail(check, message(err), "use another with --key, or ask an admin for one: `shoal keys create`")
		return false
	}
	x.role = me.Role
	if me.SessionID != nil {
		x.Session = *me.SessionID
	}
	switch {
	case me.EntityID != nil:
		x.As = *me.EntityID
	case me.Role == shoal.RoleAdmin && x.Session == shoal.DefaultSession:
		x.As = shoal.Operator // as the other commands do
	}
	said := "role " + string(me.Role)
	if x.As != "" {
		said += ", acts as " + string(x.As)
	}
	if x.client, err = client.New(client.Options{URL: x.URL, HTTP: x.HTTP, Key: x.Key, As: x.As, RetryFor: -1}); err != nil {
		x.fail(check, message(err), "correct --as")
		return false
	}
	x.ok(check, said)
	return true
}

// stream checks whether events arrive as they happen.
func (x *examination) stream(ctx context.Context) {
	const check = "events"
	ctx, cancel := context.WithTimeout(ctx, promptly)
	defer cancel()
	began := time.Now()
	for _, err := range x.client.Session(x.Session).Follow(ctx, client.FollowOptions{}) {
		if err != nil {
			x.fail(check, "the stream is refused: "+message(err), "check the server's log")
			return
		}
		x.ok(check, "the first of a stream came after "+time.Since(began).Round(time.Millisecond).String())
		return
	}
	x.fail(check, fmt.Sprintf("none came within %s: something on the way keeps them", promptly), "turn buffering off in the proxy for /mcp, /sse and …/events")
}

// wait waits for a message that never comes, from end to end, and checks whether it is held for
// as long as it should.
func (x *examination) wait(ctx context.Context) {
	const check = "wait"
	if x.As == "" {
		return // only an entity has an inbox to wait for
	}
	took, result, err := x.waitOnce(ctx)
	said := fmt.Sprintf("one of %s took %s", x.Wait, took.Round(time.Millisecond))
	switch {
	case errors.Is(err, shoal.NotFound) || errors.Is(err, shoal.EntityRequired):
		x.warn(check, fmt.Sprintf("%s is not an entity of the session %s", x.As, x.Session), "name one with --as ID")
	case err != nil:
		x.fail(check, fmt.Sprintf("one of %s was cut after %s: %v", x.Wait, took.Round(time.Millisecond), message(err)), "let proxies hold an answer for ten minutes; `shoal doctor --wait 2m` tries again")
	case !result.TimedOut:
		x.fail(check, said+" and brought messages that it did not ask for", "report this, please")
	case took < x.Wait-100*time.Millisecond:
		x.warn(check, said+": something ended it", "one entity can have at most four waits; a fifth ends the oldest")
	default:
		x.ok(check, said)
	}
}

// waitOnce makes one request that waits. It asks for messages from the one entity
// that never writes any, and for the last batch again, so that it acknowledges none.
func (x *examination) waitOnce(ctx context.Context) (time.Duration, shoal.WaitResult, error) {
	ctx, cancel := context.WithTimeout(ctx, x.Wait+cutGrace)
	defer cancel()
	began := time.Now()
	body := fmt.Sprintf(`{"kind":"messages","timeoutMs":%d,"from":["nobody.writes.as.doctor"],"redeliver":true}`, x.Wait.Milliseconds())
	var result shoal.WaitResult
	err := x.post(ctx, "/v1/sessions/"+url.PathEscape(string(x.Session))+"/entities/"+url.PathEscape(string(x.As))+"/wait", body, &result)
	return time.Since(began), result, err
}

// post sends JSON and decodes the answer. Nothing is tried again: that would hide
// what is looked for.
func (x *examination) post(ctx context.Context, path, body string, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(x.URL, "/")+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	x.sign(req)
	res, err := x.HTTP.Do(req)
	if err != nil {
		return unreachable(x.URL, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	if err != nil {
		return unreachable(x.URL, err)
	}
	if res.StatusCode != http.StatusOK {
		var problem struct {
			Code   shoal.Kind `json:"code"`
			Detail string     `json:"detail"`
		}
		if json.Unmarshal(answer, &problem) == nil && problem.Code != "" {
			return shoal.E("doctor", problem.Code, problem.Detail)
		}
		return shoal.E("doctor", shoal.Internal, fmt.Sprintf("it was answered with %s", res.Status))
	}
	return json.Unmarshal(answer, out)
}

// sign adds the key to a request.
func (x *examination) sign(req *http.Request) {
	if x.Key != "" {
		req.Header.Set("Authorization", "Bearer "+x.Key)
	}
	if x.As != "" {
		req.Header.Set("X-Shoal-Entity", string(x.As))
	}
	if x.role == shoal.RoleAdmin {
		req.Header.Set("X-Shoal-Session", string(x.Session))
	}
}
