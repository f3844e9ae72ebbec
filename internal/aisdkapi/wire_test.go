package aisdkapi_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/tools/txtar"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/aisdkapi"
	"github.com/shoal-dev/shoal/internal/chatapi"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/shoaltest/shop"
)

var update = flag.Bool("update", false, "write the transcripts of testdata/wire anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a shop with its transport and its guard.
type world struct {
	*testing.T
	*shop.Shop
	url  string
	made map[string]string // ids by the names that a transcript has for them
	name map[string]string // and these by the ids
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, Shop: shop.New(t, nil), made: map[string]string{}, name: map[string]string{}}
	api := aisdkapi.New(chatapi.Options{Hub: w.Hub, Auth: w.Auth, Heartbeat: time.Minute})
	w.url = w.Serve(guard.Options{TextPath: aisdkapi.Path}, api.Handler())
	return w
}

var madeID = regexp.MustCompile(`\b(run|msg|prt|pnd|fil)_[A-Za-z0-9]+`)

// named replaces the ids that the server has made by names.
func (w *world) named(text string) string {
	return madeID.ReplaceAllStringFunc(text, func(id string) string {
		if w.name[id] == "" {
			kind, _, _ := strings.Cut(id, "_")
			w.name[id] = fmt.Sprintf("%s-%d", strings.ToUpper(kind), len(w.name)+1)
			w.made[w.name[id]] = id
		}
		return w.name[id]
	})
}

// send sends a request, and returns the answer. request is a method, a path below the API, and a key other than
// that of ann.
func (w *world) send(request, body string) string {
	for name, id := range w.made {
		body = strings.ReplaceAll(body, name+`"`, id+`"`)
		body = strings.ReplaceAll(body, name+`/`, id+`/`)
		body = strings.ReplaceAll(body, name+`.`, id+`.`)
	}
	words := append(strings.Fields(request), w.Key)
	ctx, cancel := context.WithTimeout(w.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, words[0], w.url+words[1], strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+words[2])
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = res.Body.Close() }() // it is read
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s\n\n%s\n", res.StatusCode, res.Header.Get("Content-Type"), strings.TrimSpace(string(text)))
}

// act plays the agent: each line is what it does in its next run.
func (w *world) act(script string) {
	var job *shop.Job
	for line := range strings.Lines(script) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if job == nil {
			job = w.Claim()
		}
		switch verb {
		case "say":
			job.Say(rest)
		case "show": // parts as JSON
			var parts []shoal.Part
			if err := json.Unmarshal([]byte(rest), &parts); err != nil {
				w.Errorf("%s: %v", line, err)
			}
			job.Show(parts...)
		case "call":
			tool, args, _ := strings.Cut(rest, " ")
			job.CallClient("c1", tool, args)
		case "end":
			job.Finish(shoal.RunCompleted, nil)
		case "cancel":
			job.Finish(shoal.RunCanceled, nil)
		case "fail":
			job.Finish(shoal.RunFailed, &shoal.RunError{Code: "max_steps", Message: rest})
		default:
			w.Errorf("the agent cannot %s", line)
		}
	}
}

// The wire, byte by byte but for the ids that the server makes: each request of a transcript gets the answer that
// is written below it.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts were found: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t)
			script := txtar.Parse(text)
			for i := 0; i < len(script.Files); i++ {
				request := script.Files[i]
				answer := make(chan string, 1)
				go func() { answer <- w.send(request.Name, strings.TrimSpace(string(request.Data))) }()
				if i++; script.Files[i].Name == "the agent" {
					w.act(string(script.Files[i].Data))
					i++
				}
				got, want := w.named(<-answer), &script.Files[i]
				if *update {
					want.Data = []byte(got)
				} else if got != string(want.Data) {
					t.Errorf("%s is answered by\n%s\nnot by\n%s", request.Name, got, want.Data)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(script), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
