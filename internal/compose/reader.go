package compose

import (
	"fmt"

	"github.com/shoal-dev/shoal"
)

// maxNesting limits the nesting of arguments and results that others read. It is the limit
// of the agent. encoding/json can write deeper values than it can read once a message
// surrounds them.
const maxNesting = 101

// maxValue limits a key or a value that is returned as a whole, in bytes. Every id is far shorter.
const maxValue = 4 << 10

// Reader reads the JSON arguments of a tool call while a model writes them. The arguments
// may be split anywhere. The reader processes each byte once and does not retain what it
// has returned, so the cost of a piece depends on its own length only.
//
//	r := compose.NewReader(false, compose.Field{Name: "spaceId"}, compose.Field{Name: "text", Stream: true})
//	for _, t := range r.Feed(`{"spaceId":"shop","text":"Two lap`) { … }
//
// Names are compared as encoding/json does for a map: decoded and case-sensitive. The text
// of a streamed field since its last TokenBegin, and the last complete value of every other
// field, equal what encoding/json decodes into a map: the last of several equal keys wins,
// and invalid UTF-8 and lone surrogates become U+FFFD. Properties of the same name inside
// other values are ignored. Texts never split a character. A complete value of more than
// 4096 bytes is returned as an empty [TokenValue], so that it cannot be mistaken for a
// shorter value.
type Reader struct {
	fields []Field
	rest   bool

	state state
	stack []byte // '{' or '[' for each open value
	err   error
	bytes int // read before the current piece

	tokens  []Token
	from    int    // offset in the piece of the verbatim text that is not yet returned
	members int    // number of members in the rest
	key     []byte // the decoded key, while it may name a field
	raw     []byte // the same key as written
	field   int    // index of the field whose value is being read, or -1
	sink    sink
	value   []byte // the value that is returned as a whole
	over    bool   // value has more than maxValue bytes

	text    textState
	literal string // what is left of true, false or null
}

// state is what the reader expects next.
type state int

const (
	wantObject  state = iota // the opening brace of the arguments
	wantKeyEnd               // a key or the end of the object
	wantKey                  // a key
	inKey                    // the text of a key
	wantColon                // between key and value
	wantValue                // a value
	wantItemEnd              // a value or the end of the array
	inString                 // the text of a value
	inLiteral                // true, false, null
	inMinus                  // a number: digits must follow
	inZero                   // after a leading zero
	inInt                    // in the digits before a decimal point
	inPoint                  // after the decimal point
	inFraction               // in the digits after the decimal point
	inExponent               // after the e
	inSign                   // after the sign of the exponent
	inPower                  // in the digits of the exponent
	afterValue               // a comma or the end of the open value
	whole                    // the object is complete; only white space may follow
	broken                   // an error was found; nothing is read
)

// sink is the destination of a value.
type sink int

const (
	sinkNone   sink = iota
	sinkRest        // as written, into the rest
	sinkKey         // decoded and as written, until the field is known
	sinkStream      // decoded, returned immediately
	sinkWhole       // decoded, buffered until it ends
	sinkJSON        // as written, buffered until it ends
)

// NewReader returns a reader of one call's arguments. With rest it also returns the JSON of
// the arguments without the named fields, piece by piece: without white space, like
// json.Compact, and otherwise as the model wrote it.
func NewReader(rest bool, fields ...Field) *Reader {
	return &Reader{rest: rest, fields: fields, field: -1}
}

// Err returns why the arguments are not JSON, or nil while they can still become JSON.
func (r *Reader) Err() error { return r.err }

// IsComplete reports whether the object is complete.
func (r *Reader) IsComplete() bool { return r.state == whole }

// Feed reads the next piece and returns its tokens. The next call reuses the slice; the
// texts in it stay valid.
func (r *Reader) Feed(piece string) []Token {
	r.tokens, r.from = r.tokens[:0], 0
	i := 0
	for i < len(piece) && r.state != broken {
		switch r.state {
		case inKey, inString:
			i = r.readText(piece, i)
		default:
			i = r.step(piece, i)
		}
	}
	r.flushVerbatim(piece, i)
	r.bytes += len(piece)
	return r.tokens
}

// Close ends the arguments and returns the last tokens: an error if the arguments are
// incomplete. Empty arguments, or only white space, count as {}.
func (r *Reader) Close() []Token {
	r.tokens, r.from = r.tokens[:0], 0
	switch r.state {
	case whole, broken:
	case wantObject:
		r.state = whole
		if r.rest {
			r.emit(TokenRest, 0, "{}")
		}
		r.emit(TokenEnd, 0, "")
	default:
		r.setError("", 0, "they end in the middle")
	}
	return r.tokens
}

// readAll reads complete arguments.
func (r *Reader) readAll(arguments string, take func(Token)) {
	for _, t := range r.Feed(arguments) {
		take(t)
	}
	for _, t := range r.Close() {
		take(t)
	}
}

func (r *Reader) emit(kind TokenKind, field int, text string) {
	r.tokens = append(r.tokens, Token{Kind: kind, Field: field, Text: text})
}

func (r *Reader) setError(piece string, at int, what string) {
	r.flushVerbatim(piece, at)
	r.err = &shoal.Error{
		Op: "compose.Reader", Kind: shoal.InvalidJSON,
		Msg: fmt.Sprintf("The arguments are not a JSON object: at byte %d, %s.", r.bytes+at, what),
	}
	r.state = broken
	r.emit(TokenError, 0, "")
}

// step reads the byte at i, which is outside of any string, and returns the next offset.
func (r *Reader) step(piece string, i int) int {
	c := piece[i]
	switch r.state {
	case inLiteral:
		return r.readLiteral(piece, i)
	case inMinus, inZero, inInt, inPoint, inFraction, inExponent, inSign, inPower:
		return r.readNumber(piece, i)
	}
	if c == ' ' || c == '\n' || c == '\t' || c == '\r' {
		if r.sink == sinkRest {
			r.flushVerbatim(piece, i)
			r.from = i + 1
		}
		return i + 1
	}
	switch r.state {
	case wantObject:
		if c != '{' {
			break
		}
		r.push('{')
		if r.rest {
			r.emit(TokenRest, 0, "{")
		}
		r.state = wantKeyEnd
		return i + 1
	case wantKey, wantKeyEnd:
		if c == '}' && r.state == wantKeyEnd {
			return r.pop(piece, i)
		}
		if c == '"' {
			r.beginKey(i)
			return i + 1
		}
	case wantColon:
		if c == ':' {
			r.state = wantValue
			return i + 1
		}
	case wantItemEnd:
		if c == ']' {
			return r.pop(piece, i)
		}
		return r.beginValue(piece, i)
	case wantValue:
		return r.beginValue(piece, i)
	case afterValue:
		return r.readSeparator(piece, i)
	}
	r.setError(piece, i, fmt.Sprintf("%q is not expected", c))
	return i
}

// readSeparator reads what separates values.
func (r *Reader) readSeparator(piece string, i int) int {
	open := r.stack[len(r.stack)-1]
	switch c := piece[i]; {
	case c == ',' && open == '{':
		r.state = wantKey
	case c == ',':
		r.state = wantValue
	case c == open+2: // the closing bracket, in ASCII
		return r.pop(piece, i)
	default:
		r.setError(piece, i, fmt.Sprintf("%q is not expected", c))
		return i
	}
	return i + 1
}

// beginValue starts with the first byte of a value.
func (r *Reader) beginValue(piece string, i int) int {
	c := piece[i]
	top := len(r.stack) == 1
	if top {
		r.beginMember(i, c == '"')
	}
	switch {
	case c == '"':
		r.state, r.text = inString, textState{}
	case c == '{' || c == '[':
		if len(r.stack) >= maxNesting {
			r.setError(piece, i, fmt.Sprintf("they are nested deeper than %d levels", maxNesting))
			return i
		}
		r.push(c)
		r.state = wantKeyEnd
		if c == '[' {
			r.state = wantItemEnd
		}
	case c == 't':
		r.state, r.literal = inLiteral, "true"[1:]
	case c == 'f':
		r.state, r.literal = inLiteral, "false"[1:]
	case c == 'n':
		r.state, r.literal = inLiteral, "null"[1:]
	case c == '-':
		r.state = inMinus
	case c == '0':
		r.state = inZero
	case '1' <= c && c <= '9':
		r.state = inInt
	default:
		r.setError(piece, i, fmt.Sprintf("%q begins no value", c))
		return i
	}
	return i + 1
}

func (r *Reader) push(open byte) { r.stack = append(r.stack, open) }

// pop ends an object or an array with the bracket at i.
func (r *Reader) pop(piece string, i int) int {
	r.stack = r.stack[:len(r.stack)-1]
	switch len(r.stack) {
	case 0:
		r.state = whole
		if r.rest {
			r.emit(TokenRest, 0, "}")
		}
		r.emit(TokenEnd, 0, "")
	case 1:
		r.endMember(piece, i+1)
	default:
		r.state = afterValue
	}
	return i + 1
}
