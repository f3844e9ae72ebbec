package e2e_test

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/shoaltest/oauthtest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
	"github.com/shoal-dev/shoal/internal/shoaltest/tlstest"
)

// conformanceSuite is the protocol's own.
const conformanceSuite = "test/conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js"

// authorizationChecks are all that the suite has for authorization servers, the same ones in both
// revisions.
var authorizationChecks = []string{
	"SUCCESS authorization-code-grant",
	"SUCCESS authorization-server-metadata",
	"SUCCESS authorization-server-metadata-cimd",
}

// The official suite finds nothing wrong with the authorization server of the binary. A person consents
// where the suite asks for one; everything else the suite does itself.
func TestAuthorizationConformance(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "--client-documents", "on")
	ann := s.person(t, "ann")
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			_, port, _ := strings.Cut(program.FreeAddr(t), ":")
			client := oauthtest.Register(t, s.url, "suite of "+revision, "http://127.0.0.1:"+port+"/callback")
			dir := t.TempDir()
			suite := exec.CommandContext(bounded(t), program.Node(t), program.Installed(t, conformanceSuite), "authorization", "--url", s.url,
				"--client-id", client.ID, "--resource", s.url+"/mcp", "--port", port, "--spec-version", revision, "--output-dir", dir)
			out, err := suite.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := suite.Start(); err != nil {
				t.Fatal(err)
			}
			said, address := "", ""
			for lines := bufio.NewScanner(out); lines.Scan(); {
				line := lines.Text()
				said += line + "\n"
				if strings.HasPrefix(line, s.url+"/oauth/authorize?") {
					address = line
				}
				if strings.HasPrefix(line, "Callback server started") { // which is later than the address
					s.consents(t, ann, address, revision)
				}
			}
			if err := suite.Wait(); err != nil {
				t.Errorf("the suite: %v", err)
			}
			if got := checksIn(t, dir); !slices.Equal(got, authorizationChecks) {
				t.Errorf("the suite reports %q, want %q\n%s", got, authorizationChecks, said)
			}
		})
	}
}

// A program of the official SDK that describes itself in a document joins without registering, and gets a
// new token by itself.
func TestProgramsThatDescribeThemselves(t *testing.T) {
	pair := tlstest.New(t, "127.0.0.1")
	t.Setenv("SSL_CERT_FILE", pair.CertFile) // of the server
	var document string
	published := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"client_id":%q,"client_name":"SDK","redirect_uris":["http://127.0.0.1/callback"],"token_endpoint_auth_method":"none"}`, document)
	}))
	published.TLS = &tls.Config{Certificates: []tls.Certificate{pair.Certificate}}
	published.StartTLS()
	t.Cleanup(published.Close)
	document = published.URL + "/client.json"
	s := serve(t, t.TempDir(), "--client-documents", "on", "--allow-private", "127.0.0.1/32")
	ann := s.person(t, "ann")
	for _, sdk := range []string{"1", "2"} {
		t.Run("SDK "+sdk, func(t *testing.T) {
			_, port, _ := strings.Cut(program.FreeAddr(t), ":")
			run := program.StartLines(t, "node", filepath.Join(nodeDir, "oauth.mjs"), "--sdk", sdk, "--url", s.url+"/mcp", "--document", document, "--port", port)
			var first struct{ Open string }
			run.Next(patience, &first)
			s.consents(t, ann, first.Open, "sdk-"+sdk)
			var got struct {
				Client  string
				Threads []string
				Renewed bool
			}
			run.Next(patience, &got)
			if got.Client != document || got.Threads == nil || !got.Renewed {
				t.Errorf("the program reports %+v", got)
			}
		})
	}
}

// person returns a browser in which a new person is signed in.
func (s *server) person(t *testing.T, id shoal.EntityID) *oauthtest.Browser {
	t.Helper()
	var key shoal.Key
	s.rest(t, http.MethodPost, "/v1/keys", shoal.NewKey{Role: shoal.RoleEntity, EntityID: id, Door: shoal.DoorInvite}, &key)
	return oauthtest.SignIn(t, s.url, *key.Secret)
}

// consents opens the address to which a program sends a person, lets the person allow a new agent
// everything, and follows the browser back to the program.
func (s *server) consents(t *testing.T, person *oauthtest.Browser, address, agent string) {
	t.Helper()
	led := oauthtest.Do(t, http.MethodGet, address, "")
	_, query, _ := strings.Cut(address, "?")
	if led.Status != http.StatusSeeOther || !strings.HasPrefix(led.Header.Get("Location"), s.url+"/join?request=") {
		t.Fatalf("the browser is led to %d %q", led.Status, led.Header.Get("Location"))
	}
	decided := person.Consent(query, "agent", "agent-"+agent, "name", "Agent "+agent, "spaces", []string{})
	if back := oauthtest.Do(t, http.MethodGet, decided.Value("url"), ""); decided.Status != http.StatusOK || back.Status != http.StatusOK {
		t.Fatalf("the decision: %d %s; the program answers %d %s", decided.Status, decided.Text, back.Status, back.Text)
	}
}

// checksIn returns how each check below a folder of the suite's results ended, in order.
func checksIn(t *testing.T, dir string) (all []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var checks []struct{ ID, Status string }
		if err := json.Unmarshal(text, &checks); err != nil {
			t.Fatal(err)
		}
		for _, c := range checks {
			all = append(all, c.Status+" "+c.ID)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(a[strings.Index(a, " "):], b[strings.Index(b, " "):]) })
	return all
}
