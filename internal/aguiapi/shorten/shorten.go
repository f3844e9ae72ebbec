// Package shorten makes the bodies of AG-UI clients shorter, which send the whole history of
// their thread with each run. It reads a body as it arrives and holds no more of it than it
// returns, and the longest value.
//
//	body, err := shorten.Body(r.Body, 1<<20)
package shorten

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/shoal-dev/shoal"
)

// History is the field that a shortened body has beside those of the client: what of its
// history is left out.
type History struct {
	// Texts are the ids of the assistant's messages, Calls those of the tool calls, and
	// Results those of the calls that the client has a result of: the newest ones.
	Texts   []string `json:"texts"`
	Calls   []string `json:"calls"`
	Results []string `json:"results"`
}

// Field is the name of the field with the [History].
const Field = "shortened"

const (
	// maxMessages is of how many messages, the newest, the ids are kept.
	maxMessages = 1_000
	// maxID is how long an id may be that is kept, in bytes.
	maxID = 256
)

// Body returns a RunAgentInput with at most so many bytes that says the same as the one that
// is read, without the oldest messages. What follows the last message of the assistant, and
// all other fields, are kept. An error of kind TooLarge means that these alone are larger, or
// one value is, InvalidJSON that it is not an object; any other is that of the reader. Values
// are not checked further.
func Body(from io.Reader, most int) ([]byte, error) {
	in := &bounded{from: from, most: most, left: most}
	s := &shortener{in: in, d: json.NewDecoder(in), most: most}
	text, err := s.shortened()
	var wrong *json.SyntaxError
	switch {
	case in.err != nil: // a decoder may hide it
		return nil, in.err
	case errors.As(err, &wrong), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, invalid
	}
	return text, err
}

var invalid = shoal.E("shorten", shoal.InvalidJSON, "The body is not a JSON object with a list of messages; send a RunAgentInput.")

// bounded fails when a value has more bytes than are allowed.
type bounded struct {
	from       io.Reader
	most, left int
	err        error
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.err = tooLarge("A value of the body", b.most)
		return 0, b.err
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

func tooLarge(what string, most int) error {
	return shoal.E("shorten", shoal.TooLarge, fmt.Sprintf("%s is larger than %d bytes.", what, most))
}

// shortener holds what is kept of a body.
type shortener struct {
	in   *bounded
	d    *json.Decoder
	most int

	fields   []byte // all but the messages, each with a comma after it
	listed   bool   // the messages were read
	messages []message
	size     int
	read     int // how many messages were read
	last     int // the number of the assistant's last message, from 1; 0 for none
	out      []message
	outLast  int // the number of the newest message that is left out
}

// message is a message with what is kept of it when it is left out.
type message struct {
	text       json.RawMessage
	number     int
	Role       string `json:"role"`
	ID         string `json:"id"`
	ToolCallID string `json:"toolCallId"`
	ToolCalls  []struct {
		ID string `json:"id"`
	} `json:"toolCalls"`
}

// shortened reads the body and returns what is kept of it.
func (s *shortener) shortened() ([]byte, error) {
	if err := s.object(); err != nil {
		return nil, err
	}
	return s.fit()
}

// object reads the body.
func (s *shortener) object() error {
	if err := s.delim('{'); err != nil {
		return err
	}
	for s.d.More() {
		name, err := s.d.Token()
		if err != nil {
			return err
		}
		if name == "messages" && !s.listed {
			if err := s.list(); err != nil {
				return err
			}
			continue
		}
		value, err := s.value()
		if err != nil {
			return err
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return err
		}
		s.fields = append(append(append(append(s.fields, quoted...), ':'), value...), ',')
		if len(s.fields) > s.most {
			return tooLarge("What the body has beside its messages", s.most)
		}
	}
	if err := s.delim('}'); err != nil {
		return err
	}
	if _, err := s.d.Token(); !errors.Is(err, io.EOF) {
		return invalid
	}
	return nil
}

func (s *shortener) delim(want json.Delim) error {
	t, err := s.d.Token()
	if err == nil && t != want {
		err = invalid
	}
	return err
}

// value reads a value of any kind.
func (s *shortener) value() (value json.RawMessage, err error) {
	s.in.left = s.most
	err = s.d.Decode(&value)
	s.in.left = s.most
	return value, err
}

// list reads the messages. It leaves the oldest out as soon as there are too many.
func (s *shortener) list() error {
	s.listed = true
	if err := s.delim('['); err != nil {
		return err
	}
	for s.d.More() {
		text, err := s.value()
		if err != nil {
			return err
		}
		s.read++
		m := message{text: text, number: s.read}
		_ = json.Unmarshal(text, &m) // one that is not a message is refused when the body is decoded
		if m.Role == "assistant" {
			s.last = s.read
		}
		s.messages = append(s.messages, m)
		s.size += len(text) + 1
		for s.size > s.most {
			s.leaveOut()
		}
	}
	return s.delim(']')
}

// leaveOut leaves the oldest message out.
func (s *shortener) leaveOut() {
	m := s.messages[0]
	s.messages = s.messages[1:]
	s.size -= len(m.text) + 1
	s.outLast = m.number
	m.text = nil
	if m.Role == "assistant" || m.Role == "tool" {
		s.out = append(s.out, m)
		s.out = s.out[max(len(s.out)-maxMessages, 0):]
	}
}

// fit returns the body, without as many messages as makes it small enough.
func (s *shortener) fit() ([]byte, error) {
	for {
		text, err := s.encode()
		if err != nil {
			return nil, err
		}
		over := len(text) - s.most
		switch {
		case over <= 0 && s.outLast > s.last: // something new would be lost
			return nil, tooLarge("What follows the last message of the assistant", s.most)
		case over <= 0:
			return text, nil
		case len(s.messages) <= 1:
			return nil, tooLarge("What is new in the body", s.most)
		}
		for before := s.size; len(s.messages) > 1 && before-s.size < over; {
			s.leaveOut()
		}
	}
}

// encode returns the body.
func (s *shortener) encode() ([]byte, error) {
	h := History{Texts: []string{}, Calls: []string{}, Results: []string{}}
	add := func(to *[]string, id string) {
		if id != "" && len(id) <= maxID {
			*to = append(*to, id)
		}
	}
	for _, m := range s.out {
		if m.Role == "tool" {
			add(&h.Results, m.ToolCallID)
			continue
		}
		add(&h.Texts, m.ID)
		for _, c := range m.ToolCalls {
			add(&h.Calls, c.ID)
		}
	}
	history, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteByte('{')
	b.Write(s.fields)
	if s.listed {
		b.WriteString(`"messages":[`)
		for i, m := range s.messages {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(m.text)
		}
		b.WriteString(`],`)
	}
	b.WriteString(`"` + Field + `":`)
	b.Write(history)
	b.WriteByte('}')
	return b.Bytes(), nil
}
