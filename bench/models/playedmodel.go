package models

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal/bench/driver"
	"github.com/shoal-dev/shoal/internal/load"
)

// played is an answer of the simulated model: a number of deltas of text, or of the
// arguments of one tool call.
type played struct {
	tool   bool
	deltas int
}

const (
	textDelta = 5 // bytes
	toolDelta = 4

	playedTool = "send"
	toolHead   = `{"text":"`
	toolTail   = `"}`

	// besideDeltas is the number of lines of a stream without a delta: the head, the
	// finish reason, the usage, the end.
	besideDeltas = 4
)

func (p played) kind() string {
	if p.tool {
		return "tool"
	}
	return "text"
}

// path returns the path below the model's URL at which this answer is served; providers
// use it as their base URL.
func (p played) path() string { return "/v1/" + p.kind() + "/" + strconv.Itoa(p.deltas) }

// bytes returns the total size of all deltas.
func (p played) bytes() int {
	if p.tool {
		return toolDelta*p.deltas + len(toolHead) + len(toolTail)
	}
	return textDelta * p.deltas
}

// delta returns the content of delta i: words, and sometimes the end of a line, which
// has to be unescaped.
func (p played) delta(i int) string {
	switch {
	case !p.tool && i%16 == 15:
		return "end.\n"
	case !p.tool:
		return "word "
	}
	text := "word"
	if i%16 == 15 {
		text = `ab\n`
	}
	if i == 0 {
		text = toolHead + text
	}
	if i == p.deltas-1 {
		text += toolTail
	}
	return text
}

// stream returns the answer as a stream of OpenAI's chat completions.
func (p played) stream() []byte {
	var b bytes.Buffer
	chunk := func(delta, reason string) {
		fmt.Fprintf(&b, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"played",`+
			`"system_fingerprint":"fp_1","choices":[{"index":0,"delta":%s,"logprobs":null,"finish_reason":%s}],"usage":null}`+"\n\n", delta, reason)
	}
	head, form, reason := `{"role":"assistant","content":""}`, `{"content":%s}`, `"stop"`
	if p.tool {
		head = `{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"` + playedTool + `","arguments":""}}]}`
		form, reason = `{"tool_calls":[{"index":0,"function":{"arguments":%s}}]}`, `"tool_calls"`
	}
	chunk(head, "null")
	for i := range p.deltas {
		text, _ := json.Marshal(p.delta(i)) // cannot fail for a string
		chunk(fmt.Sprintf(form, text), "null")
	}
	chunk("{}", reason)
	b.WriteString(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"played","choices":[],` +
		`"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30}}` + "\n\ndata: [DONE]\n\n")
	return b.Bytes()
}

// ServeModel simulates a model with OpenAI's chat completions API:
//
//	GET  /readyz
//	POST /v1/{text|tool}/DELTAS/chat/completions
//	POST /v1/paced/RATE/SPACE/chat/completions
//
// The first route sends the whole answer at once, and a short one if the request contains
// the result of a tool. The second sends the text of sendSpaceMessage, or plain text for
// the space "text", at RATE deltas per second until its reader disconnects.
func ServeModel(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("model", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:0", "the `address` to listen on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return driver.Serve(ctx, *addr, playedHandler())
}

func playedHandler() http.Handler {
	var streams sync.Map
	var pace pacer
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /v1/paced/{rate}/{space}/chat/completions", pace.serve)
	mux.HandleFunc("POST /v1/{kind}/{deltas}/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		deltas, err := strconv.Atoi(r.PathValue("deltas"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has disconnected
		}
		p := played{tool: r.PathValue("kind") == "tool", deltas: deltas}
		if bytes.Contains(body, []byte(`"role":"tool"`)) {
			p = played{deltas: 1}
		}
		stream, known := streams.Load(p)
		if !known {
			stream, _ = streams.LoadOrStore(p, p.stream())
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(stream.([]byte))
	})
	return mux
}

// pacer spreads the streams of a model evenly over time, independent of when they start.
// Otherwise a server that starts all its runs at once would receive their deltas in
// bursts, and one whose readers connect one after the other would not.
type pacer struct{ streams atomic.Int64 }

// first returns the time of the first delta of the next stream, within a period from now.
// Any number of streams are spread almost evenly over the period.
func (p *pacer) first(now time.Time, period time.Duration) time.Time {
	_, place := math.Modf(float64(p.streams.Add(1)) / math.Phi)
	at := now.Truncate(period).Add(time.Duration(place * float64(period)))
	if at.Before(now) {
		at = at.Add(period)
	}
	return at
}

// serve streams the text of a message; each delta contains the time at which it is sent.
func (p *pacer) serve(w http.ResponseWriter, r *http.Request) {
	rate, err := strconv.Atoi(r.PathValue("rate"))
	if err != nil || rate < 1 {
		http.NotFound(w, r)
		return
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return // the client has disconnected
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	chunk := func(delta string) error {
		_, err := fmt.Fprintf(w, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"played",`+
			`"choices":[{"index":0,"delta":%s,"logprobs":null,"finish_reason":null}]}`+"\n\n", delta)
		if err == nil {
			err = flush()
		}
		return err
	}
	head := `{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"sendSpaceMessage","arguments":` +
		strconv.Quote(`{"spaceId":"`+r.PathValue("space")+`","text":"`) + `}}]}`
	form := `{"tool_calls":[{"index":0,"function":{"arguments":"@%019d@ "}}]}`
	if r.PathValue("space") == PlainText {
		head, form = `{"role":"assistant","content":""}`, `{"content":"@%019d@ "}`
	}
	first := p.first(time.Now(), time.Second/time.Duration(rate))
	err = chunk(head)
	for n := 0; err == nil && load.Pause(r.Context(), time.Until(first.Add(time.Duration(n)*time.Second/time.Duration(rate)))); n++ {
		err = chunk(fmt.Sprintf(form, time.Now().UnixNano()))
	}
}

// PlainText is the space name that selects plain text.
const PlainText = "text"
