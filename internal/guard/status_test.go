package guard

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

// The statuses of the contract, section 4, and of the kinds that came later.
func TestStatus(t *testing.T) {
	for status, kinds := range map[int]string{
		400: "invalid_json entity_required",
		401: "unauthenticated",
		403: "forbidden identity_mismatch",
		404: "not_found",
		409: "already_exists space_closed session_closed admin_required conflict idempotency_mismatch already_answered run_not_waiting",
		410: "expired",
		413: "too_large",
		415: "unsupported_media_type",
		422: "invalid_argument",
		429: "rate_limited too_many_waiters",
		500: "internal no_such_kind",
		501: "server_too_old client_too_old",
		503: "busy",
		507: "storage_full",
	} {
		for kind := range strings.FieldsSeq(kinds) {
			if got := Status(shoal.Kind(kind)); got != status {
				t.Errorf("Status(%s) = %d, want %d", kind, got, status)
			}
		}
	}
}

// A kind that nobody put into the table would appear as `internal`.
func TestEveryKindHasAStatus(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../error.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); !ok || typ.Name != "Kind" {
			return true
		}
		for i, name := range spec.Names {
			kind, err := strconv.Unquote(spec.Values[i].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := statuses[shoal.Kind(kind)]; !ok {
				t.Errorf("the table of statuses lacks shoal.%s (%s)", name, kind)
			}
			found++
		}
		return true
	})
	if found < len(statuses) {
		t.Errorf("error.go declares %d kinds, the table has %d", found, len(statuses))
	}
}

const internalProblem = `{"type":"about:blank","title":"Internal Server Error","status":500,` +
	`"detail":"Something went wrong on the server.","code":"internal"}`

func TestWriteProblem(t *testing.T) {
	secret := errors.New("secret: disk 7")
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{
			"a sentence", shoal.E("hub.Space", shoal.NotFound, "There is no space \"x\"."),
			`{"type":"about:blank","title":"Not Found","status":404,"detail":"There is no space \"x\".","code":"not_found"}`,
		},
		{
			"wrong fields", shoal.Invalid("body.name", "is missing"),
			`{"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"body.name is missing",` +
				`"code":"invalid_argument","errors":[{"location":"body.name","message":"is missing"}]}`,
		},
		{
			"the outermost of two, without its cause",
			fmt.Errorf("post: %w", &shoal.Error{Kind: shoal.Busy, Msg: "Try again.", Err: shoal.E("", shoal.NotFound, "secret")}),
			`{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"Try again.","code":"busy"}`,
		},
		{"any other error", secret, internalProblem},
		{"an internal error", &shoal.Error{Kind: shoal.Internal, Msg: "secret", Err: secret}, internalProblem},
		{"an unknown kind", shoal.E("", "secret", "secret"), internalProblem},
		{"no error", nil, internalProblem},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			WriteProblem(w, tt.err)
			if got := w.Body.String(); got != tt.want {
				t.Errorf("the problem is\n%s, want\n%s", got, tt.want)
			}
			header := w.Header()
			if !strings.Contains(tt.want, fmt.Sprintf(`"status":%d,`, w.Code)) || header.Get("Content-Type") != "application/problem+json" ||
				header.Get("Content-Length") != strconv.Itoa(len(tt.want)) || header.Get("Cache-Control") != "no-store" {
				t.Errorf("the answer is %d with %v", w.Code, header)
			}
		})
	}
}

func TestWriteRPCError(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
		want   string
	}{
		{shoal.E("", shoal.InvalidJSON, "Bad."), 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"invalid_json: Bad."}}`},
		{shoal.E("", shoal.Unauthenticated, "Who?"), 401, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"unauthenticated: Who?"}}`},
		{errors.New("secret"), 500, `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal: Something went wrong on the server."}}`},
	} {
		w := httptest.NewRecorder()
		WriteRPCError(w, tt.err)
		if w.Code != tt.status || w.Body.String() != tt.want || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%v is reported as %d %s, want %d %s", tt.err, w.Code, w.Body, tt.status, tt.want)
		}
	}
}

func TestErrorHeaders(t *testing.T) {
	for _, tt := range []struct {
		kind              shoal.Kind
		name, preset, got string
	}{
		{shoal.Unauthenticated, "WWW-Authenticate", "", "Bearer"},
		{shoal.Unauthenticated, "WWW-Authenticate", `Bearer error="invalid_token"`, `Bearer error="invalid_token"`},
		{shoal.RateLimited, "Retry-After", "", "1"},
		{shoal.TooManyWaiters, "Retry-After", "", "1"},
		{shoal.Busy, "Retry-After", "", "1"},
		{shoal.Busy, "Retry-After", "30", "30"},
		{shoal.NotFound, "Retry-After", "", ""},
		{shoal.Forbidden, "WWW-Authenticate", "", ""},
	} {
		for _, write := range []func(http.ResponseWriter, error){WriteProblem, WriteRPCError} {
			w := httptest.NewRecorder()
			if tt.preset != "" {
				w.Header().Set(tt.name, tt.preset)
			}
			write(w, shoal.E("", tt.kind, "No."))
			if got := w.Header().Get(tt.name); got != tt.got {
				t.Errorf("%s: %s is %q, want %q", tt.kind, tt.name, got, tt.got)
			}
		}
	}
}

// Below TextPath a refusal is a sentence, which clients show to their user; elsewhere it is a problem.
func TestRefusalsBelowTextPathAreSentences(t *testing.T) {
	d := newDoor(t, Options{TextPath: "/chat/"}, httptest.NewServer)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.URL+"/chat/a", strings.NewReader(`{"a": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "text/plain")
	res, err := d.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusUnsupportedMediaType || res.Header.Get("Content-Type") != "text/plain; charset=utf-8" ||
		string(text) != `The body has the Content-Type "text/plain". Send application/json.` {
		t.Errorf("%d %s %q, %v", res.StatusCode, res.Header.Get("Content-Type"), text, err)
	}
	d.wantUntouched()
	d.wantRefusal(d.send("POST", "/v1/a", `{"a": 1}`, "Content-Type", "text/plain"), http.StatusUnsupportedMediaType, shoal.UnsupportedMediaType, "Send application/json")
}
