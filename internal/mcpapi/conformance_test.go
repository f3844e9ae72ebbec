package mcpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/shoal-dev/shoal/internal/mcpapi"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// suite is the protocol's own conformance suite, in test/conformance.
const suite = "test/conformance/node_modules/@modelcontextprotocol/conformance/"

// suitePatience only ends a run that has failed anyway.
const suitePatience = 3 * time.Minute

// beyond are the scenarios that the suite runs without requiring them, and that
// we do not pass, with the reason.
var beyond = map[string]map[string]string{
	session: {
		"server-sse-polling": "an answer that streams cannot be taken up again; a wait that was cut is called again and loses nothing",
	},
	modern: {
		"tasks-lifecycle":              noTasks,
		"tasks-capability-negotiation": noTasks,
		"tasks-wire-fields":            noTasks,
		"tasks-request-state-removal":  noTasks,
		"tasks-mrtr-input":             noTasks,
		"tasks-request-headers":        noTasks,
		"tasks-dispatch-and-envelope":  noTasks,
		"tasks-required-task-error":    noTasks,
		"tasks-mrtr-composition":       noTasks,
	},
}

const noTasks = "the extension for tasks is not offered"

// own are the scenarios that need nothing but what every server has: Shoal's own
// tools and resources pass them, too.
var own = map[string][]string{
	session: {
		"server-initialize", "ping", "tools-list", "resources-list", "server-sse-multiple-streams", "dns-rebinding-protection",
		"server-session-lifecycle",
	},
	modern: {
		"tools-list", "resources-list", "sep-2164-resource-not-found", "server-sse-multiple-streams", "dns-rebinding-protection",
		"input-required-result-unsupported-methods", "http-header-validation",
	},
}

// The official suite finds nothing wrong with a server on our stack: guard, keys,
// sessions, streams, the tools answered directly and those answered by the SDK.
func TestConformance(t *testing.T) {
	t.Parallel()
	for revision, excused := range beyond {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			required, found := conform(t, revision, fixture)
			for _, name := range required {
				if found[name] == nil {
					t.Errorf("the required scenario %s was not run", name)
				}
			}
			for name, wrong := range found {
				reason, known := excused[name]
				switch {
				case !known && len(wrong) > 0:
					t.Errorf("%s:\n%s", name, wrong)
				case known && len(wrong) == 0:
					t.Errorf("%s passes; it need not be excused any more: %s", name, reason)
				}
			}
			for name := range excused {
				if found[name] != nil {
					continue
				}
				t.Errorf("%s is excused, but the suite does not have it", name)
			}
		})
	}
}

// What is listed and answered by Shoal itself is as the protocol's schemas want
// it.
func TestConformanceOfOurOwn(t *testing.T) {
	t.Parallel()
	for revision, scenarios := range own {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			_, found := conform(t, revision, mcpapi.New)
			for _, name := range scenarios {
				if wrong, ran := found[name]; !ran || len(wrong) > 0 {
					t.Errorf("%s (run: %v):\n%s", name, ran, wrong)
				}
			}
			// The remaining checks need tools of the fixture.
			for _, c := range found["server-stateless"] {
				if !strings.HasPrefix(c.ErrorMessage, "Not testable: ") {
					t.Errorf("server-stateless:\n%s", faults{c})
				}
			}
		})
	}
}

// The skills are served as the extension describes it, which no revision requires.
func TestConformanceOfSkills(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sep-2640-skills-enumeration", "sep-2640-skills-manifest"} {
		for scenario, wrong := range play(t, mcpapi.New, 1, "--scenario", name) {
			if scenario != name || len(wrong) > 0 {
				t.Errorf("%s:\n%s", scenario, wrong)
			}
		}
	}
}

// faults are the checks of a scenario that found something.
type faults []check

type check struct {
	ID, Status, ErrorMessage string
	Details                  json.RawMessage
}

func (f faults) String() (all string) {
	for _, c := range f {
		all += "  " + c.Status + " " + c.ID + ": " + c.ErrorMessage + "\n    " + string(c.Details[:min(len(c.Details), 600)]) + "\n"
	}
	return all
}

// conform runs what a revision requires, and what is beyond it, against a server
// of its own.
func conform(t *testing.T, revision string, offering func(mcpapi.Options) *mcpapi.API) (required []string, found map[string]faults) {
	t.Helper()
	var set struct{ Server []string }
	text, err := os.ReadFile(program.Installed(t, suite+"requirements/"+revision+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &set); err != nil || len(set.Server) < 30 {
		t.Fatalf("the requirements of %s name %d scenarios (%v)", revision, len(set.Server), err)
	}
	return set.Server, play(t, offering, len(set.Server), "--requirements", revision)
}

// play runs at least so many scenarios of the suite against a server of its own.
func play(t *testing.T, offering func(mcpapi.Options) *mcpapi.API, least int, which ...string) map[string]faults {
	t.Helper()
	node, runner := program.Node(t), program.Installed(t, suite+"dist/index.js")
	ctx, cancel := context.WithTimeout(t.Context(), suitePatience)
	defer cancel()
	dir := t.TempDir()
	run := exec.CommandContext(ctx, node, append([]string{runner, "server", "--url", keyless(t, offering), "--output-dir", dir}, which...)...)
	out, err := run.CombinedOutput()
	found := results(t, dir)
	if len(found) < least {
		t.Fatalf("%v: %v\n%s", run.Args, err, out)
	}
	return found
}

// keyless serves an API to a client that can send no key: it gets one on the way
// in.
func keyless(t *testing.T, offering func(mcpapi.Options) *mcpapi.API) (url string) {
	t.Helper()
	w := newWorld(t, func(w *world) { w.make = offering })
	key := w.key("conformance")
	front := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+key)
		w.server.Config.Handler.ServeHTTP(out, r)
	}))
	t.Cleanup(front.Close)
	return front.URL + "/mcp"
}

// resultDir is what the suite calls the folder of a scenario's results.
var resultDir = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[\dZ-]+$`)

// results reads what the suite has found, for each scenario that it ran.
func results(t *testing.T, dir string) map[string]faults {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]faults{}
	for _, e := range entries {
		name := resultDir.FindStringSubmatch(e.Name())
		if name == nil {
			t.Fatalf("the suite has left %s", e.Name())
		}
		var checks []check
		text, err := os.ReadFile(filepath.Join(dir, e.Name(), "checks.json"))
		if err != nil {
			t.Fatal(err) // the scenario ended without a word
		}
		if err := json.Unmarshal(text, &checks); err != nil || len(checks) == 0 {
			t.Fatalf("%s: %v in %s", name[1], err, text)
		}
		wrong := faults{}
		for _, c := range checks {
			if c.Status == "FAILURE" || c.Status == "WARNING" {
				wrong = append(wrong, c)
			}
		}
		found[name[1]] = wrong
	}
	return found
}
