package agent_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/price"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
	"github.com/shoal-dev/shoal/agent/provider/openai"
)

// wire is a local server that answers as a provider: the n-th request with the n-th
// answer, and all further ones with the last. It records the bodies.
type wire struct {
	url    string
	client *http.Client
	mu     sync.Mutex
	bodies []string
}

func newWire(t *testing.T, answers ...http.HandlerFunc) *wire {
	w := &wire{}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.mu.Lock()
		n := len(w.bodies)
		w.bodies = append(w.bodies, string(body))
		w.mu.Unlock()
		answers[min(n, len(answers)-1)](rw, r)
	}))
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	t.Cleanup(server.Close)
	w.url, w.client = server.URL, &http.Client{Transport: transport}
	return w
}

// asked returns the texts of the messages of each request.
func (w *wire) asked(t *testing.T) [][]string {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([][]string, 0, len(w.bodies))
	for _, body := range w.bodies {
		var req struct{ Messages []struct{ Content any } }
		if err := json.Unmarshal([]byte(body), &req); err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, m := range req.Messages {
			texts = append(texts, contentText(m.Content))
		}
		out = append(out, texts)
	}
	return out
}

// contentText returns the text of a message's content, which is a text or a list of blocks.
func contentText(content any) string {
	switch v := content.(type) {
	case string:
		return v
	case []any:
		var b strings.Builder
		for _, block := range v {
			if fields, ok := block.(map[string]any); ok {
				b.WriteString(contentText(fields["text"]) + contentText(fields["content"]))
			}
		}
		return b.String()
	}
	return ""
}

func refuses(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		send(w, body)
	}
}

func streams(events string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		send(w, events)
	}
}

func send(w io.Writer, text string) {
	if _, err := io.WriteString(w, text); err != nil {
		return // the client has left
	}
}

// chatSays is an answer of the chat completions API. Without an end it breaks off.
func chatSays(text, end string) string {
	return `data: {"choices":[{"index":0,"delta":{"content":"` + text + `"},"finish_reason":null}]}` + "\n\n" + end
}

const chatEnd = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}` + "\n\ndata: [DONE]\n\n"

func (w *wire) chat(name string, window int) agent.Model {
	return openai.Chat(name, openai.Options{BaseURL: w.url, APIKey: "k", HTTPClient: w.client, Window: window})
}

// claude is an answer of the messages API.
func claude(block, delta, stop string) string {
	return "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":1000,\"output_tokens\":1}}}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":" + block + "}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":" + delta + "}\n\n" +
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" + stop + "\"},\"usage\":{\"output_tokens\":100}}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
}

func (w *wire) claude() agent.Model {
	return anthropic.New("claude-opus-5", anthropic.Options{BaseURL: w.url, APIKey: "k", HTTPClient: w.client, Window: 1_000_000})
}

// Another provider answers when the first one breaks off in the middle of a text: it gets
// the same request, readers see its text only, it is billed, and it stays for the turn.
func TestFallbackToAnotherProviderInMidStream(t *testing.T) {
	first := newWire(t, streams(chatSays("Let me che", "")))
	second := newWire(t,
		streams(claude(`{"type":"tool_use","id":"t1","name":"echo","input":{}}`, `{"type":"input_json_delta","partial_json":"{\"a\":\"x\"}"}`, "tool_use")),
		streams(claude(`{"type":"text","text":""}`, `{"type":"text_delta","text":"It is x."}`, "end_turn")))
	traced := &ends{}
	a := newAgentOn(t, agent.Fallback(first.chat("gpt-5.6", 400_000), second.claude()), agent.Options{
		Instructions: "Be brief.", Tools: storyTools(), Price: price.Of, MaxCost: 1, Observers: []agent.Observer{traced},
	})
	c := agent.NewConversation()
	events := all(t, a, t.Context(), c, agent.Say("What is a?"))
	checkBalance(t, events)

	if got := first.asked(t); len(got) != 1 || !strings.Contains(strings.Join(got[0], "|"), "What is a?") {
		t.Errorf("the first provider received %q", got)
	}
	got := second.asked(t)
	if len(got) != 2 || strings.Join(got[0], "|") != "What is a?" || !strings.HasSuffix(strings.Join(got[1], "|"), "echo x") {
		t.Errorf("the second provider received %q", got)
	}
	for _, body := range second.bodies {
		if strings.Contains(body, "Let me che") {
			t.Errorf("the second provider reads what the first one said: %s", body)
		}
	}
	if shown := shownText(events); shown != "It is x." {
		t.Errorf("readers see %q", shown)
	}
	if got, want := strings.Join(messages(t, c), " / "), `user: What is a? / assistant: [echo {"a":"x"}] / tool: [ok echo x] / assistant: It is x.`; got != want {
		t.Errorf("stored is %q, want %q", got, want)
	}
	var called []string
	for _, e := range of[agent.ModelCallStarted](events) {
		called = append(called, e.Model.Name)
	}
	if got := strings.Join(called, " "); got != "gpt-5.6 claude-opus-5 claude-opus-5" {
		t.Errorf("called are %s", got)
	}
	const cost = 2 * (1000*5 + 100*25) / 1e6
	if end := finished(t, events); end.Outcome != agent.Completed || end.Cost < cost*0.999 || end.Cost > cost*1.001 {
		t.Errorf("the turn is %s and cost %v, want %v", end.Outcome, end.Cost, cost)
	}
	if n := len(traced.seen); n != 3 || traced.seen[0].Err == nil || traced.seen[0].Model.Name != "gpt-5.6" || traced.seen[1].Model.Name != "claude-opus-5" || traced.seen[1].Cost == 0 {
		t.Errorf("traced are %+v", traced.seen)
	}
}

// shownText is the text that a reader of the events has at the end.
func shownText(events []agent.Event) string {
	texts, owner, order := map[string]string{}, map[string]string{}, []string(nil)
	for _, e := range events {
		switch e := e.(type) {
		case agent.TextStarted:
			owner[e.PartID] = e.MessageID
			order = append(order, e.PartID)
		case agent.TextDelta:
			texts[e.PartID] = texts[e.PartID][:e.Offset] + e.Text
		case agent.MessageEnded:
			for part, message := range owner {
				if e.Discarded && message == e.MessageID {
					delete(texts, part)
				}
			}
		}
	}
	var b strings.Builder
	for _, part := range order {
		b.WriteString(texts[part])
	}
	return b.String()
}

const (
	overloaded = `{"error":{"message":"The engine is overloaded.","type":"server_error"}}`
	tooLong    = `{"error":{"message":"Too long.","type":"invalid_request_error","code":"context_length_exceeded"}}`
	wrongKey   = `{"error":{"message":"Incorrect API key.","type":"invalid_request_error","code":"invalid_api_key"}}`
	badRequest = `{"error":{"message":"Unknown field.","type":"invalid_request_error"}}`
	noCredit   = `{"error":{"message":"You exceeded your quota.","type":"insufficient_quota","code":"insufficient_quota"}}`
)

// What the first of three models answers, and which of the others are called then. The
// window of the second is smaller than that of the first, and that of the third is larger.
func TestFallbackDependsOnTheFailure(t *testing.T) {
	for name, c := range map[string]struct {
		first  http.HandlerFunc
		second int // requests
		third  int
		reason agent.Reason
	}{
		"overloaded":   {refuses(503, overloaded), 1, 0, agent.ReasonDone},
		"rate limited": {refuses(429, overloaded), 1, 0, agent.ReasonDone},
		"no credit":    {refuses(429, noCredit), 1, 0, agent.ReasonDone},
		"no answer":    {streams(""), 1, 0, agent.ReasonDone},
		"too long":     {refuses(400, tooLong), 0, 1, agent.ReasonDone},
		"wrong key":    {refuses(401, wrongKey), 0, 0, agent.ReasonProviderAuth},
		"bad request":  {refuses(400, badRequest), 0, 0, agent.ReasonInvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			good := streams(chatSays("Yes.", chatEnd))
			one, two, three := newWire(t, c.first), newWire(t, good), newWire(t, good)
			m := agent.Fallback(agent.Fallback(one.chat("one", 100), two.chat("two", 50)), three.chat("three", 200))
			end := finished(t, all(t, newAgentOn(t, m, agent.Options{}), t.Context(), agent.NewConversation(), agent.Say("Well?")))
			if end.Reason != c.reason || len(one.bodies) != 1 || len(two.bodies) != c.second || len(three.bodies) != c.third {
				t.Errorf("%s, %v; called %d, %d, %d times", end.Reason, end.Err, len(one.bodies), len(two.bodies), len(three.bodies))
			}
		})
	}
}
