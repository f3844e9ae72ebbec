package client_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// hostedCalls are the calls about hosted agents, for TestWhereCallsGo.
func hostedCalls() map[string]func(w *world, s *client.Session) error {
	return map[string]func(w *world, s *client.Session) error{
		"GET /v1/sessions/s1/agents?limit=200": func(w *world, s *client.Session) error { return drain(s.Agents(w.Context())) },
		"GET /v1/sessions/s1/agents/bot": func(w *world, s *client.Session) error {
			_, err := s.Agent(w.Context(), "bot", 0)
			return err
		},
		"GET /v1/sessions/s1/agents/bot?version=3": func(w *world, s *client.Session) error {
			_, err := s.Agent(w.Context(), "bot", 3)
			return err
		},
		"PUT /v1/sessions/s1/agents/bot": func(w *world, s *client.Session) error {
			_, err := s.PutAgent(w.Context(), "bot", client.ConfigYAML, []byte("version: '1.0'"))
			return err
		},
		"DELETE /v1/sessions/s1/agents/bot": func(w *world, s *client.Session) error { return s.DeleteAgent(w.Context(), "bot") },
		"POST /v1/sessions/s1/agents/bot/trigger": func(w *world, s *client.Session) error {
			_, err := s.TriggerAgent(w.Context(), "bot", "billing", nil)
			return err
		},
		"GET /v1/sessions/s1/agents/bot/plans?limit=200": func(w *world, s *client.Session) error {
			return drain(s.Plans(w.Context(), "bot"))
		},
		"POST /v1/sessions/s1/agents/bot/plans": func(w *world, s *client.Session) error {
			_, err := s.CreatePlan(w.Context(), "bot", shoal.NewPlan{Name: "daily"})
			return err
		},
		"PATCH /v1/sessions/s1/plans/pln_1": func(w *world, s *client.Session) error {
			_, err := s.ChangePlan(w.Context(), "pln_1", shoal.PlanChange{})
			return err
		},
		"DELETE /v1/sessions/s1/plans/pln_1": func(w *world, s *client.Session) error { return s.DeletePlan(w.Context(), "pln_1") },
		"GET /v1/sessions/s1/runs?limit=200": func(w *world, s *client.Session) error {
			return drain(s.Runs(w.Context(), client.RunsOptions{}))
		},
		"GET /v1/sessions/s1/runs?agent=bot&limit=200&space=shop&status=queued%2Crunning": func(w *world, s *client.Session) error {
			return drain(s.Runs(w.Context(), client.RunsOptions{
				Agent: "bot", Space: "shop", Status: []shoal.RunStatus{shoal.RunQueued, shoal.RunRunning},
			}))
		},
		"GET /v1/sessions/s1/runs?limit=200&since=2026-11-20T10%3A00%3A00.000Z&trigger=plan&until=2026-11-20T10%3A00%3A00.000Z": func(w *world, s *client.Session) error {
			var at shoal.Time
			if err := at.UnmarshalText([]byte("2026-11-20T10:00:00Z")); err != nil {
				return err
			}
			return drain(s.Runs(w.Context(), client.RunsOptions{Trigger: shoal.PlanTrigger, Since: &at, Until: &at}))
		},
		"GET /v1/sessions/s1/runs/run_1/steps/2/request": func(w *world, s *client.Session) error {
			_, err := s.ModelRequest(w.Context(), "run_1", 2)
			return err
		},
		"POST /v1/sessions/s1/runs/run_1/retry": func(w *world, s *client.Session) error {
			_, err := s.RetryRun(w.Context(), "run_1")
			return err
		},
		"GET /v1/sessions/s1/agents/bot/versions?limit=200": func(w *world, s *client.Session) error {
			return drain(s.AgentVersions(w.Context(), "bot"))
		},
		"POST /v1/sessions/s1/agents/bot/preview?space=shop": func(w *world, s *client.Session) error {
			_, err := s.PreviewAgent(w.Context(), "bot", client.ConfigYAML, []byte("version: '1.0'"), "shop")
			return err
		},
		"POST /v1/sessions/s1/agents/bot/preview": func(w *world, s *client.Session) error {
			_, err := s.PreviewAgent(w.Context(), "bot", "", nil, "")
			return err
		},
		"GET /v1/sessions/s1/pending-actions?limit=200&order=newest&status=answered%2Cexpired": func(w *world, s *client.Session) error {
			return drain(s.PendingActions(w.Context(), client.PendingOptions{Status: []shoal.PendingStatus{shoal.PendingAnswered, shoal.PendingExpired}, Newest: true}))
		},
		"GET /v1/sessions/s1/runs/run_1": func(w *world, s *client.Session) error {
			_, err := s.Run(w.Context(), "run_1")
			return err
		},
		"GET /v1/sessions/s1/runs/run_1/steps?limit=200": func(w *world, s *client.Session) error {
			return drain(s.Steps(w.Context(), "run_1"))
		},
		"POST /v1/sessions/s1/runs/run_1/cancel": func(w *world, s *client.Session) error {
			_, err := s.CancelRun(w.Context(), "run_1")
			return err
		},
		"POST /v1/sessions/s1/runs/run_1/tool-results": func(w *world, s *client.Session) error {
			_, err := s.AnswerToolCall(w.Context(), "run_1", "call-1", shoal.PendingAnswer{Result: []byte("1")})
			return err
		},
		"GET /v1/sessions/s1/pending-actions?limit=200&run=run_1&space=shop&status=answered": func(w *world, s *client.Session) error {
			return drain(s.PendingActions(w.Context(), client.PendingOptions{Status: []shoal.PendingStatus{shoal.PendingAnswered}, Space: "shop", Run: "run_1"}))
		},
		"POST /v1/sessions/s1/pending-actions/pnd_1/answer": func(w *world, s *client.Session) error {
			_, err := s.AnswerPending(w.Context(), "pnd_1", shoal.PendingAnswer{})
			return err
		},
		"GET /v1/sessions/s1/usage?agent=bot&by=day%2Cmodel&from=2026-11-20T10%3A00%3A00.000Z&limit=200&run=run_1&to=2026-11-20T10%3A00%3A00.000Z": func(w *world, s *client.Session) error {
			var at shoal.Time
			if err := at.UnmarshalText([]byte("2026-11-20T10:00:00Z")); err != nil {
				return err
			}
			return drain(s.Usage(w.Context(), client.UsageOptions{By: []string{"day", "model"}, Agent: "bot", Run: "run_1", From: &at, To: &at}))
		},
		"POST /v1/sessions/s1/files?name=a+b.png": func(w *world, s *client.Session) error {
			_, err := s.UploadFile(w.Context(), "a b.png", "image/png", []byte{1})
			return err
		},
		"GET /v1/sessions/s1/files/fil_1": func(w *world, s *client.Session) error {
			_, err := s.DownloadFile(w.Context(), "fil_1")
			return err
		},
	}
}

// sent is what a server was asked.
type sent struct{ key, media, accept, body string }

// hearing answers every request with body, and keeps what was asked.
func hearing(all *[]sent, status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		got, _ := io.ReadAll(r.Body)
		*all = append(*all, sent{r.Header.Get("Idempotency-Key"), r.Header.Get("Content-Type"), r.Header.Get("Accept"), string(got)})
		answer(w, status, body)
	}
}

// A configuration goes as it was written, under its own media type.
func TestAConfigurationGoesAsItWasWritten(t *testing.T) {
	var asked []sent
	text := "version: '1.0' # kept\n"
	inWorld(t, hearing(&asked, 201, `{"id":"bot","version":2,"hash":"ab","config":{"a":1}}`), func(w *world) {
		for _, format := range []client.ConfigFormat{client.ConfigYAML, client.ConfigJSON} {
			a, err := w.client.Session("default").PutAgent(w.Context(), "bot", format, []byte(text))
			if err != nil || a.Version != 2 || string(a.Config) != `{"a":1}` {
				w.Errorf("PutAgent = %+v, %v", a, err)
			}
		}
		want := []sent{{"", "application/yaml", "application/json", text}, {"", "application/json", "application/json", text}}
		if !slices.Equal(asked, want) {
			w.Errorf("asked %+v, want %+v", asked, want)
		}
	})
}

// Every wrong field of a configuration is in the error.
func TestARefusedConfigurationNamesItsFields(t *testing.T) {
	var asked []sent
	refusal := `{"code":"invalid_argument","detail":"Two fields are wrong.","errors":[{"location":"agent.system","message":"is missing"},{"location":"model.name","message":"is missing"}]}`
	inWorld(t, hearing(&asked, 422, refusal), func(w *world) {
		_, err := w.client.Session("default").PutAgent(w.Context(), "bot", client.ConfigJSON, []byte("{}"))
		var e *shoal.Error
		if !errors.As(err, &e) || e.Kind != shoal.InvalidArgument || len(e.Fields) != 2 || e.Fields[0].Location != "agent.system" || len(asked) != 1 {
			w.Errorf("error = %+v after %d tries", err, len(asked))
		}
	})
}

// What is created is created once; an answer is safe to repeat and carries no key.
func TestWhatCarriesAnIdempotencyKey(t *testing.T) {
	for name, c := range map[string]struct {
		do  func(w *world, s *client.Session) error
		key bool
		say string
	}{
		"trigger": {func(w *world, s *client.Session) error {
			_, err := s.TriggerAgent(w.Context(), "bot", "billing", json.RawMessage(`{"n":1}`))
			return err
		}, true, `{"serviceName":"billing","payload":{"n":1}}`},
		"trigger without a payload": {func(w *world, s *client.Session) error {
			_, err := s.TriggerAgent(w.Context(), "bot", "billing", nil)
			return err
		}, true, `{"serviceName":"billing","payload":null}`},
		"plan": {func(w *world, s *client.Session) error {
			cron := "0 9 * * *"
			_, err := s.CreatePlan(w.Context(), "bot", shoal.NewPlan{Name: "daily", Cron: &cron})
			return err
		}, true, `{"name":"daily","cron":"0 9 * * *"}`},
		"upload": {func(w *world, s *client.Session) error {
			_, err := s.UploadFile(w.Context(), "a", "", []byte("whatever"))
			return err
		}, true, "whatever"},
		"answer": {func(w *world, s *client.Session) error {
			yes := true
			_, err := s.AnswerPending(w.Context(), "pnd_1", shoal.PendingAnswer{Approved: &yes})
			return err
		}, false, `{"approved":true}`},
		"tool result": {func(w *world, s *client.Session) error {
			_, err := s.AnswerToolCall(w.Context(), "run_1", "call-1", shoal.PendingAnswer{Result: json.RawMessage(`{"ok":true}`)})
			return err
		}, false, `{"callId":"call-1","result":{"ok":true}}`},
		"cancel": {func(w *world, s *client.Session) error {
			_, err := s.CancelRun(w.Context(), "run_1")
			return err
		}, false, ""},
	} {
		var asked []sent
		handler := inTurn(
			func(w http.ResponseWriter, r *http.Request) { hearing(&asked, 503, `{"code":"busy"}`)(w, r) },
			func(w http.ResponseWriter, r *http.Request) { hearing(&asked, 200, `{}`)(w, r) },
		)
		inWorld(t, handler, func(w *world) {
			if err := c.do(w, w.client.Session("default")); err != nil {
				w.Fatalf("%s: %v", name, err)
			}
			if len(asked) != 2 || asked[0] != asked[1] || (asked[0].key != "") != c.key || asked[0].body != c.say {
				w.Errorf("%s asked %+v", name, asked)
			}
		})
	}
}

// A file comes back byte for byte, whatever it holds, also where it looks like an
// answer.
func TestAFileComesBackAsItWas(t *testing.T) {
	data := []byte("{\"not\": read}\x00\xff")
	var accept string
	handler := func(w http.ResponseWriter, r *http.Request) {
		accept = r.Header.Get("Accept")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(data)
	}
	inWorld(t, handler, func(w *world) {
		got, err := w.client.Session("default").DownloadFile(w.Context(), "fil_1")
		if err != nil || !bytes.Equal(got, data) || accept != "*/*" {
			w.Errorf("got %q, %v, asked for %s", got, err, accept)
		}
	})
}

// A run is followed at its own place, and resumed there.
func TestARunIsFollowed(t *testing.T) {
	var paths, after []string
	handler := func(w http.ResponseWriter, r *http.Request) {
		paths, after = append(paths, r.URL.Path), append(after, r.Header.Get("Last-Event-ID"))
		w.Header().Set("Content-Type", "text/event-stream")
		if len(paths) == 1 {
			say(w, "id: 1\nevent: snapshot\ndata: {\"run\":{\"id\":\"run_1\",\"status\":\"running\"}}\n\n")
			cut()
		}
		say(w, "id: 2\nevent: run.completed\ndata: {\"run\":{\"id\":\"run_1\",\"status\":\"completed\"}}\n\n")
	}
	inWorld(t, handler, func(w *world) {
		var seen []shoal.EventType
		for e, err := range w.client.Session("default").Follow(w.Context(), client.FollowOptions{Run: "run_1"}) {
			if err != nil {
				w.Fatal(err)
			}
			if seen = append(seen, e.Type); e.Type == shoal.EventRunCompleted {
				break
			}
		}
		if !slices.Equal(seen, []shoal.EventType{shoal.EventSnapshot, shoal.EventRunCompleted}) || !slices.Equal(after, []string{"", "1"}) ||
			paths[0] != "/v1/sessions/default/runs/run_1/events" {
			w.Errorf("saw %v at %v after %q", seen, paths, after)
		}
	})
}
