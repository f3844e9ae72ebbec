package tool

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
)

// request is one configured HTTP request.
type request struct {
	client  *http.Client
	method  string
	url     *urlTemplate
	headers map[string]template
	query   map[string]template
	body    *body
	content string // its media type
	timeout time.Duration
	secrets secrets
}

// configureRequest configures a tool that sends an HTTP request.
func (t *Tool) configureRequest(x *agentconfig.Request, o Options) error {
	if o.Network == nil {
		return shoal.Invalid("executionType", "request is not supported here: the server has no network for tools")
	}
	r := &request{client: o.Network.Client(), method: x.Method, timeout: milliseconds(x.Timeout)}
	env := &resolver{lookUp: o.Env}
	var err error
	if r.url, err = env.parseLink(x.URL); err != nil {
		return err
	}
	if r.headers, err = env.parseHeaders(x.Headers); err != nil {
		return err
	}
	if r.query, err = env.parseQuery(x.QueryParams); err != nil {
		return err
	}
	for name, value := range x.Headers {
		if strings.EqualFold(name, "Content-Type") {
			r.content = value
		}
	}
	if r.body, r.content, err = env.parseBody(x, r.content); err != nil {
		return err
	}
	r.secrets = newSecrets(env.values, x.Headers)
	t.run = r.call
	t.spec.Timeout = r.timeout + 5*time.Second // the request's own time-out comes first and has a better message
	return nil
}

func (r *resolver) parseHeaders(headers map[string]string) (map[string]template, error) {
	out := map[string]template{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		field := "execution.headers." + name
		t, err := r.parse(field, headers[name])
		if err != nil {
			return nil, err
		}
		for _, s := range t {
			if s.env && !isHeaderValue(s.text) {
				return nil, shoal.Invalid(field, "refers to an environment value that is not valid in a header")
			}
		}
		out[name] = t
	}
	return out, nil
}

func (r *resolver) parseQuery(params map[string]any) (map[string]template, error) {
	out := map[string]template{}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		text, ok := params[name].(string)
		if !ok {
			out[name] = template{{text: string(mustEncode(params[name]))}}
			continue
		}
		t, err := r.parse("execution.queryParams."+name, text)
		if err != nil {
			return nil, err
		}
		out[name] = t
	}
	return out, nil
}

// call sends the request. A failure is a failed output, except the end of ctx, which is an
// error.
func (r *request) call(ctx context.Context, c call) (agent.Output, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, r.timeout, errTimeout)
	defer cancel()
	req, err := r.build(bounded, c)
	if err != nil {
		return r.failure(err.Error()), nil
	}
	resp, err := r.client.Do(req)
	if err == nil {
		defer resp.Body.Close()
		var out agent.Output
		if out, err = r.read(resp); err == nil {
			return out, nil
		}
	}
	if ctx.Err() != nil {
		return agent.Output{}, context.Cause(ctx)
	}
	if errors.Is(context.Cause(bounded), errTimeout) {
		err = errTimeout
	}
	return r.failure(r.reason(err)), nil
}

func (r *request) build(ctx context.Context, c call) (*http.Request, error) {
	vars := variables(c.input)
	u, err := r.url.fill(vars)
	if err != nil {
		return nil, err
	}
	added := url.Values{}
	for name, t := range r.query {
		added.Set(name, t.fill(vars, asIs))
	}
	if len(added) > 0 {
		if u.RawQuery != "" {
			u.RawQuery += "&"
		}
		u.RawQuery += added.Encode()
	}
	text := ""
	if r.method != http.MethodGet {
		if text, err = r.body.fill(c, vars); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), strings.NewReader(text))
	if err != nil {
		return nil, errors.New("the request cannot be made")
	}
	if text == "" {
		req.Body, req.GetBody, req.ContentLength = nil, nil, 0
	}
	req.Header.Set("User-Agent", "shoal")
	req.Header.Set("Accept-Encoding", "gzip") // set here, so that readBody can limit the unpacked size
	if r.method != http.MethodGet {
		req.Header.Set("Content-Type", r.content)
		if key := agent.CallKey(ctx); key != "" {
			req.Header.Set("Idempotency-Key", key)
		}
	}
	for name, t := range r.headers {
		value := t.fill(vars, asIs)
		if !isHeaderValue(value) {
			return nil, errors.New("the input has characters that are not valid in the header " + name + "")
		}
		req.Header.Set(name, value)
	}
	return req, nil
}

// isHeaderValue reports whether a text is valid in a header.
func isHeaderValue(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return (r < ' ' && r != '\t') || r == 0x7f })
}
