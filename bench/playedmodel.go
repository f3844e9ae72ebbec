package main

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

	"github.com/shoal-dev/shoal/internal/load"
)

// played is an answer of the model that is played: so many deltas of text, or of
// the arguments of one tool call.
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

	// besideDeltas are the lines of a stream that carry no delta: its head, the
	// reason to stop, the usage, the end.
	besideDeltas = 4
)

func (p played) kind() string {
	if p.tool {
		return "tool"
	}
	return "text"
}

// path follows the URL of the model that gives this answer, as providers take it.
func (p played) path() string { return "/v1/" + p.kind() + "/" + strconv.Itoa(p.deltas) }

// bytes is how long all deltas are together.
func (p played) bytes() int {
	if p.tool {
		return toolDelta*p.deltas + len(toolHead) + len(toolTail)
	}
	return textDelta * p.deltas
}

// delta is what stands in delta i: words, and now and then the end of a line,
// which has to be unescaped.
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

// stream is the answer as an OpenAI chat stream.
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
		text, _ := json.Marshal(p.delta(i)) // a string has JSON
		chunk(fmt.Sprintf(form, text), "null")
	}
	chunk("{}", reason)
	b.WriteString(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"played","choices":[],` +
		`"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30}}` + "\n\ndata: [DONE]\n\n")
	return b.Bytes()
}

// servePlayed is a model behind OpenAI's chat wire:
//
//	GET  /readyz
//	POST /v1/{text|tool}/DELTAS/chat/completions
//	POST /v1/paced/RATE/SPACE/chat/completions
//
// The first gives the whole answer at once, and a short one to a request that
// holds the result of a tool. The second writes the text of sendSpaceMessage, or
// plain text for the space "text", at that many deltas/s until its reader goes.
func servePlayed(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("model", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:0", "where to listen")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return serve(ctx, *addr, playedHandler())
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
			return // whoever has gone needs no answer
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

// pacer gives the streams of a model their places between each other, the same however
// they are asked for: a server that begins all its runs at once would otherwise have
// their deltas in bursts, and one whose readers come one after the other would not.
type pacer struct{ streams atomic.Int64 }

// first is the moment of the first delta of the next stream, within a period from now.
// Any number of streams are spread about evenly over it.
func (p *pacer) first(now time.Time, period time.Duration) time.Time {
	_, place := math.Modf(float64(p.streams.Add(1)) / math.Phi)
	at := now.Truncate(period).Add(time.Duration(place * float64(period)))
	if at.Before(now) {
		at = at.Add(period)
	}
	return at
}

// serve writes a message into a space, a marked moment with each delta.
func (p *pacer) serve(w http.ResponseWriter, r *http.Request) {
	rate, err := strconv.Atoi(r.PathValue("rate"))
	if err != nil || rate < 1 {
		http.NotFound(w, r)
		return
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return // whoever has gone needs no answer
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
	if r.PathValue("space") == plainText {
		head, form = `{"role":"assistant","content":""}`, `{"content":"@%019d@ "}`
	}
	first := p.first(time.Now(), time.Second/time.Duration(rate))
	err = chunk(head)
	for n := 0; err == nil && load.Pause(r.Context(), time.Until(first.Add(time.Duration(n)*time.Second/time.Duration(rate)))); n++ {
		err = chunk(fmt.Sprintf(form, time.Now().UnixNano()))
	}
}

// plainText is the space of an answer that goes into none.
const plainText = "text"
