package openai

import (
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// callTable identifies the calls of a chat completion and numbers them from 0.
type callTable struct {
	out   *wire.Exchange
	calls []*growingCall
}

// growingCall is a call that may still get arguments.
type growingCall struct {
	index   int // as the server counts, -1 if it does not
	id      string
	name    string
	args    object
	started bool
	waiting string // arguments that came before the name
}

// add takes a piece of a call; index is -1 where the server sent none.
func (t *callTable) add(index int, id, name, args string) {
	at := t.find(index, id, name, args)
	if at < 0 {
		if id == "" && name == "" && args == "" {
			return
		}
		at = len(t.calls)
		t.calls = append(t.calls, &growingCall{index: index})
	}
	c := t.calls[at]
	if c.id == "" {
		c.id = id
	}
	if c.name == "" {
		c.name = name
	}
	c.args.add(args)
	if c.name == "" {
		c.waiting += args
		return
	}
	t.start(at)
	if args != "" {
		t.out.Emit(agent.Chunk{Kind: agent.ChunkCallDelta, Index: at, Text: args})
	}
}

// start opens the call at once it can be named.
func (t *callTable) start(at int) {
	c := t.calls[at]
	if c.started {
		return
	}
	c.started = true
	t.out.Emit(agent.Chunk{Kind: agent.ChunkCallStart, Index: at, ID: c.id, Name: c.name})
	if c.waiting != "" {
		t.out.Emit(agent.Chunk{Kind: agent.ChunkCallDelta, Index: at, Text: c.waiting})
	}
}

// flush starts the calls that never got a name, so that each gets its result.
func (t *callTable) flush() {
	for at := range t.calls {
		t.start(at)
	}
}

// find returns the call that a piece belongs to, -1 for a new one. A known id
// decides. Else the piece belongs to the newest call of its index, unless it
// names a function and cannot go on with that call: some servers count nothing
// and send 0 for each call, some send no ids, some a new id with each piece.
func (t *callTable) find(index int, id, name, args string) int {
	newest := -1
	for at := len(t.calls) - 1; at >= 0; at-- {
		c := t.calls[at]
		if index >= 0 && c.index >= 0 && index != c.index {
			continue
		}
		if id != "" && c.id == id {
			return at
		}
		newest = max(newest, at)
	}
	if newest < 0 || name == "" {
		return newest
	}
	c := t.calls[newest]
	switch {
	case id != "" && (c.id != "" || index < 0),
		c.name != "" && c.name != name,
		c.args.whole && args != "":
		return -1
	}
	return newest
}

// object follows a JSON object as it grows, far enough to see its end.
type object struct {
	depth    int
	inString bool
	escaped  bool
	whole    bool
}

func (o *object) add(text string) {
	for i := range len(text) {
		switch c := text[i]; {
		case o.escaped:
			o.escaped = false
		case o.inString && c == '\\':
			o.escaped = true
		case c == '"':
			o.inString = !o.inString
		case o.inString:
		case c == '{' || c == '[':
			o.depth++
			o.whole = false
		case c == '}' || c == ']':
			o.depth--
			o.whole = o.depth == 0
		}
	}
}
