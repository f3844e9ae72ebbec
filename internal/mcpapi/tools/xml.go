package tools

import (
	"strconv"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
)

// threadText is the content of one thread in the XML form.
type threadText struct {
	space    shoal.SpaceRef
	summary  *string
	members  []shoal.Member
	count    int64 // of all members
	messages []shoal.Message
}

// names maps entities to their display names; an entity that is missing is shown by its
// id.
type names map[shoal.EntityID]string

func (n names) of(id shoal.EntityID) string {
	if name, ok := n[id]; ok {
		return name
	}
	return string(id)
}

// messagesXML writes threads with their messages in the form that models read.
// The result is one well-formed document with exactly these messages, whatever names, ids
// and contents contain: senders control only values.
func messagesXML(threads []threadText, n names) string {
	var x xmlText
	x.open(0, "messages")
	for _, t := range threads {
		x.thread(t, n)
	}
	x.end(0, "messages")
	return string(x)
}

func (x *xmlText) thread(t threadText, n names) {
	x.open(1, "thread", "id", string(t.space.ID), "name", t.space.Name)
	x.leaf(2, "status", string(t.space.Status))
	if t.summary != nil {
		x.leaf(2, "summary", *t.summary)
	}
	x.open(2, "participants", "count", strconv.FormatInt(t.count, 10))
	for _, m := range t.members {
		x.empty(3, "participant", "id", string(m.EntityID), "name", n[m.EntityID], "kind", string(m.Kind))
	}
	x.end(2, "participants")
	x.open(2, "messages")
	for _, m := range t.messages {
		x.message(m, n)
	}
	x.end(2, "messages")
	x.end(1, "thread")
}

func (x *xmlText) message(m shoal.Message, n names) {
	about := []string{"id", string(m.ID), "seq", strconv.FormatInt(m.Seq, 10), "timestamp", m.CreatedAt.String()}
	if m.Status != shoal.MessageCompleted && m.Status != "" {
		about = append(about, "status", string(m.Status)) // a run composes it, or has ended early
	}
	if m.ReplyTo != nil {
		about = append(about, "replyTo", string(*m.ReplyTo))
	}
	if m.EditedAt != nil {
		about = append(about, "editedAt", m.EditedAt.String())
	}
	if m.DeletedAt != nil {
		about = append(about, "deletedAt", m.DeletedAt.String())
	}
	x.open(3, "message", about...)
	x.empty(4, "sender", "id", string(m.EntityID), "name", n.of(m.EntityID))
	x.open(4, "mentions")
	for _, id := range m.Mentions {
		x.empty(5, "mention", "id", string(id), "name", n.of(id))
	}
	x.end(4, "mentions")
	if len(m.OnBehalfOf) > 0 {
		x.open(4, "onBehalfOf")
		for _, id := range m.OnBehalfOf {
			x.empty(5, "entity", "id", string(id), "name", n.of(id))
		}
		x.end(4, "onBehalfOf")
	}
	if len(m.Reactions) > 0 {
		x.open(4, "reactions")
		for _, r := range m.Reactions {
			x.empty(5, "reaction", "emoji", r.Emoji, "by", join(r.EntityIDs))
		}
		x.end(4, "reactions")
	}
	x.leaf(4, "content", m.Text())
	for _, p := range m.Parts {
		switch p.Type {
		case shoal.FilePart:
			x.empty(4, "file", "name", p.Name, "mediaType", p.MediaType, "size", strconv.FormatInt(p.Size, 10), "url", p.URL)
		case shoal.DataPart:
			x.leaf(4, "data", string(p.Data), "name", p.Name)
		case shoal.ToolPart:
			x.tool(p)
		}
	}
	x.end(3, "message")
}

// tool writes a tool call: its arguments, and its result or error once there is
// one. Of a private one a reader learns only that it is there.
func (x *xmlText) tool(p shoal.Part) {
	if p.Private {
		x.empty(4, "tool", "private", "true")
		return
	}
	x.open(4, "tool", "name", p.ToolName, "call", p.ToolCallID, "status", string(p.Status))
	if len(p.Args) > 0 {
		x.leaf(5, "args", string(p.Args))
	}
	if p.Error != "" {
		x.leaf(5, "error", p.Error)
	} else if len(p.Result) > 0 {
		x.leaf(5, "result", string(p.Result))
	}
	x.end(4, "tool")
}

// hitsXML writes the results of a search.
func hitsXML(hits []shoal.Hit, n names) string {
	var x xmlText
	x.open(0, "hits")
	for _, h := range hits {
		m := h.Message
		x.open(1, "hit", "thread", string(h.Space.ID), "threadName", h.Space.Name, "message", string(m.ID),
			"seq", strconv.FormatInt(m.Seq, 10), "timestamp", m.CreatedAt.String())
		x.empty(2, "sender", "id", string(m.EntityID), "name", n.of(m.EntityID))
		x.marked(2, "highlight", "match", h.Highlight, h.Matches)
		x.end(1, "hit")
	}
	x.end(0, "hits")
	return string(x)
}

// xmlText is an XML document that grows. Tags and names of attributes are
// written as they are, values are escaped; attributes come as pairs of name and
// value.
type xmlText []byte

func (x *xmlText) open(depth int, tag string, attributes ...string) {
	x.begin(depth, tag, attributes)
	*x = append(*x, ">\n"...)
}

func (x *xmlText) empty(depth int, tag string, attributes ...string) {
	x.begin(depth, tag, attributes)
	*x = append(*x, "/>\n"...)
}

func (x *xmlText) leaf(depth int, tag, value string, attributes ...string) {
	x.begin(depth, tag, attributes)
	*x = append(*x, '>')
	x.value(value, false)
	x.end(0, tag)
}

// marked is leaf with ranges of the value inside tags of their own.
func (x *xmlText) marked(depth int, tag, mark, value string, ranges [][2]int) {
	x.begin(depth, tag, nil)
	*x = append(*x, '>')
	at := 0
	for _, r := range ranges {
		x.value(value[at:r[0]], false)
		*x = append(*x, "<"+mark+">"...)
		x.value(value[r[0]:r[1]], false)
		*x = append(*x, "</"+mark+">"...)
		at = r[1]
	}
	x.value(value[at:], false)
	x.end(0, tag)
}

func (x *xmlText) end(depth int, tag string) {
	x.indent(depth)
	*x = append(*x, "</"...)
	*x = append(*x, tag...)
	*x = append(*x, ">\n"...)
}

func (x *xmlText) begin(depth int, tag string, attributes []string) {
	x.indent(depth)
	*x = append(*x, '<')
	*x = append(*x, tag...)
	for i := 0; i < len(attributes); i += 2 {
		*x = append(*x, ' ')
		*x = append(*x, attributes[i]...)
		*x = append(*x, `="`...)
		x.value(attributes[i+1], true)
		*x = append(*x, '"')
	}
}

func (x *xmlText) indent(depth int) {
	for range depth {
		*x = append(*x, "  "...)
	}
}

// value writes s so that a reader of XML 1.0 gets exactly s back, with U+FFFD in
// place of what XML cannot hold.
func (x *xmlText) value(s string, attribute bool) {
	plain := 0 // s[plain:i] is still to be copied
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if escaped := escape(r, size, attribute); escaped != "" {
			*x = append(*x, s[plain:i]...)
			*x = append(*x, escaped...)
			plain = i + size
		}
		i += size
	}
	*x = append(*x, s[plain:]...)
}

// escape returns how r must be written, or nothing if as it is. Readers turn \r
// into \n, and all white space of an attribute into blanks, unless it is written
// as a reference. Quotes stay readable where nothing ends with them.
func escape(r rune, size int, attribute bool) string {
	switch {
	case r == '<':
		return "&lt;"
	case r == '>':
		return "&gt;"
	case r == '&':
		return "&amp;"
	case r == '\r':
		return "&#13;"
	case r == '\n' && attribute:
		return "&#10;"
	case r == '\t' && attribute:
		return "&#9;"
	case r == '"' && attribute:
		return "&quot;"
	case r == '\n', r == '\t':
		return ""
	case r < ' ', r == 0xFFFE, r == 0xFFFF, r == utf8.RuneError && size == 1:
		return "\uFFFD"
	}
	return ""
}
