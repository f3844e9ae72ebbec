package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

const lab = "/v1/sessions/default"

// stage is a server with the space "den" of ann, bob, and whatever agents a test
// puts there. Agents that play "puppet" do what the messages of the test say.
type stage struct {
	*server
	ann, bob http.Header
}

func newStage(t *testing.T, flags ...string) *stage {
	t.Helper()
	s := &stage{server: serve(t, t.TempDir(), flags...)}
	s.ann, s.bob = s.human(t, "default", "ann"), s.human(t, "default", "bob")
	s.space(t, "den", "ann", "bob")
	return s
}

func (s *stage) space(t *testing.T, id shoal.SpaceID, members ...shoal.EntityID) {
	t.Helper()
	s.rest(t, http.MethodPost, lab+"/spaces", shoal.NewSpace{ID: id, Name: string(id), Members: members}, nil)
}

// agentOf is a config of an agent that plays something, with more fields of it.
func agentOf(t *testing.T, id, play string, more args) args {
	t.Helper()
	config := args{
		"version": "1.0", "agent": args{"id": id, "system": "You follow instructions."}, "model": wires[0].model(t, play),
		"loop": args{"maxSteps": 12},
	}
	for field, value := range more {
		config[field] = value
	}
	return config
}

// host puts an agent that plays something into spaces.
func (s *stage) host(t *testing.T, id, play string, more args, spaces ...string) {
	t.Helper()
	s.rest(t, http.MethodPut, lab+"/agents/"+id, agentOf(t, id, play, more), nil)
	for _, space := range spaces {
		s.rest(t, http.MethodPut, lab+"/spaces/"+space+"/members/"+id, nil, nil)
	}
}

// post says something as somebody.
func (s *stage) post(t *testing.T, who http.Header, space, text string, mentions ...string) (m shoal.Message) {
	t.Helper()
	s.restAs(t, who, http.MethodPost, lab+"/spaces/"+space+"/messages", args{"text": text, "mentions": mentions}, &m)
	return m
}

// started returns the runs that a message started, in the order of their beginning.
func (s *stage) started(t *testing.T, m shoal.Message) (runs []shoal.Run) {
	t.Helper()
	var page struct{ Items []shoal.Run }
	s.rest(t, http.MethodGet, lab+"/runs", nil, &page)
	for _, r := range slices.Backward(page.Items) {
		if r.Trigger.MessageID == m.ID {
			runs = append(runs, r)
		}
	}
	return runs
}

// does gives an agent in the den its instructions, and returns its run at its end.
func (s *stage) does(t *testing.T, agent string, answers ...[]act) shoal.Run {
	t.Helper()
	return s.ends(t, s.instruct(t, agent, answers...))
}

// instruct gives an agent in the den its instructions and returns its run.
func (s *stage) instruct(t *testing.T, agent string, answers ...[]act) shoal.Run {
	t.Helper()
	runs := s.started(t, s.post(t, s.ann, "den", orders(t, answers...), agent))
	if len(runs) != 1 || runs[0].AgentID != shoal.EntityID(agent) {
		t.Fatalf("the order started %+v", runs)
	}
	return runs[0]
}

// ends returns a run at its end.
func (s *stage) ends(t *testing.T, r shoal.Run) shoal.Run {
	t.Helper()
	return s.run(t, lab+"/runs/"+string(r.ID), shoal.RunCompleted, shoal.RunFailed, shoal.RunCanceled)
}

// act is a call that a puppet is to make.
type act struct {
	Name string `json:"name"`
	Args args   `json:"args,omitempty"`
	ID   string `json:"id,omitempty"`
}

// say is the call that posts a message.
func say(space, text string) act {
	return act{Name: "sendSpaceMessage", Args: args{"spaceId": space, "text": text}}
}

// orders are what a puppet understands: what to call in each of its answers.
func orders(t *testing.T, answers ...[]act) string {
	t.Helper()
	return jsonOf(t, answers)
}

// messages are what somebody reads in the den.
func (s *stage) messages(t *testing.T, who http.Header) []shoal.Message {
	t.Helper()
	var page struct{ Items []shoal.Message }
	s.restAs(t, who, http.MethodGet, lab+"/spaces/den/messages", nil, &page)
	return page.Items
}

// by returns what an agent has said in the den, a line for each part.
func (s *stage) by(t *testing.T, agent shoal.EntityID) (lines []string) {
	t.Helper()
	for _, m := range s.messages(t, bearer(s.admin)) {
		if m.EntityID == agent {
			lines = append(lines, shown(m)...)
		}
	}
	return lines
}

// result returns the result of a run's call that the model received.
func (s *stage) result(t *testing.T, r shoal.Run, tool string) shoal.StepCall {
	t.Helper()
	var page struct{ Items []shoal.Step }
	s.rest(t, http.MethodGet, lab+"/runs/"+string(r.ID)+"/steps", nil, &page)
	for _, step := range page.Items {
		for _, c := range step.ToolCalls {
			if c.ToolName == tool && c.Result != nil {
				return c
			}
		}
	}
	t.Fatalf("no result of %s in %+v", tool, page.Items)
	return shoal.StepCall{}
}

// refuses makes a call that must not succeed.
func (s *stage) refuses(t *testing.T, who http.Header, method, path string, in any) (status int, problem struct {
	Code   string
	Detail string
	Errors []shoal.FieldError
},
) {
	t.Helper()
	header := who.Clone()
	header.Set("Content-Type", "application/json")
	res := request(t, method, s.url+path, header, strings.NewReader(jsonOf(t, in)))
	if err := json.Unmarshal(res.body, &problem); err != nil || res.status/100 != 4 {
		t.Fatalf("%s %s: %d %s", method, path, res.status, res.body)
	}
	return res.status, problem
}

// waitsFor returns the only open pending action that somebody sees.
func (s *stage) waitsFor(t *testing.T, who http.Header) shoal.PendingAction {
	t.Helper()
	var page struct{ Items []shoal.PendingAction }
	s.restAs(t, who, http.MethodGet, lab+"/pending-actions", nil, &page)
	if len(page.Items) != 1 {
		t.Fatalf("%d actions wait: %+v", len(page.Items), page.Items)
	}
	return page.Items[0]
}

// served is a server that lives as long as the test.
func served(t *testing.T, handle func(http.ResponseWriter, *http.Request)) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // so that the end of the connection is seen
		handle(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
