package openai

import "bytes"

// chatPiece is what the scanner finds in a chunk of the chat wire.
type chatPiece struct {
	content, reasoningContent, reasoning string

	hasCall             bool
	index               int // -1 without one
	id, name, arguments string
}

// scan reads a chunk; false if it needs encoding/json.
func (p *chatPiece) scan(data []byte) bool {
	*p = chatPiece{}
	s := scanner{b: data}
	found := false
	ok := s.object(func(key []byte) bool {
		switch string(key) {
		case "choices":
			if found {
				return false
			}
			found = true
			return s.one('[', ']', func() bool { return s.object(func(key []byte) bool { return p.choice(&s, key) }) })
		case "usage":
			return s.null()
		case "id", "object", "created", "model", "system_fingerprint", "service_tier", "obfuscation", "provider":
			return s.skip()
		}
		return false
	})
	return ok && found && s.atEnd()
}

func (p *chatPiece) choice(s *scanner, key []byte) bool {
	switch string(key) {
	case "index":
		n, ok := s.number()
		return ok && n == 0
	case "delta":
		if p.hasCall || p.content != "" || p.reasoningContent != "" || p.reasoning != "" {
			return false // twice
		}
		return s.object(func(key []byte) bool { return p.delta(s, key) })
	case "finish_reason":
		return s.null()
	case "logprobs", "native_finish_reason", "stop_reason", "matched_stop", "token_ids", "content_filter_results":
		return s.skip()
	}
	return false
}

func (p *chatPiece) delta(s *scanner, key []byte) bool {
	switch string(key) {
	case "content":
		return s.text(&p.content)
	case "reasoning_content":
		return s.text(&p.reasoningContent)
	case "reasoning":
		return s.text(&p.reasoning)
	case "role":
		return s.skip()
	case "refusal":
		return s.null()
	case "tool_calls":
		if p.hasCall {
			return false
		}
		if s.null() {
			return true
		}
		p.hasCall, p.index = true, -1
		return s.one('[', ']', func() bool { return s.object(func(key []byte) bool { return p.call(s, key) }) })
	}
	return false
}

func (p *chatPiece) call(s *scanner, key []byte) bool {
	switch string(key) {
	case "index":
		n, ok := s.number()
		if !ok || p.index >= 0 {
			return false
		}
		p.index = n
		return true
	case "id":
		return s.text(&p.id)
	case "type":
		return s.skip()
	case "function":
		return s.object(func(key []byte) bool {
			switch string(key) {
			case "name":
				return s.text(&p.name)
			case "arguments":
				return s.text(&p.arguments)
			}
			return false
		})
	}
	return false
}

// responsePiece is what the scanner finds in a delta event of the Responses wire.
type responsePiece struct {
	kind    string
	output  int
	part    int // content_index
	thought int // summary_index
	delta   string
}

// scan reads an event; false if it needs encoding/json.
func (p *responsePiece) scan(data []byte) bool {
	*p = responsePiece{}
	s := scanner{b: data}
	ok := s.object(func(key []byte) bool {
		switch string(key) {
		case "type":
			if p.kind != "" || !s.open('"') {
				return false
			}
			for _, kind := range deltaEvents {
				if bytes.HasPrefix(s.b[s.i:], []byte(kind)) && len(s.b) > s.i+len(kind) && s.b[s.i+len(kind)] == '"' {
					p.kind = kind
					s.i += len(kind) + 1
					return true
				}
			}
			return false
		case "delta":
			return s.text(&p.delta)
		case "output_index":
			return s.count(&p.output)
		case "content_index":
			return s.count(&p.part)
		case "summary_index":
			return s.count(&p.thought)
		case "sequence_number", "item_id", "logprobs", "obfuscation":
			return s.skip()
		}
		return false
	})
	return ok && p.kind != "" && s.atEnd()
}
