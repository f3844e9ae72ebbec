package compose

import (
	"fmt"

	"github.com/shoal-dev/shoal"
)

// maxNesting is how deep arguments and results may be nested where others read
// them: as deep as the agent takes arguments. encoding/json writes deeper ones than
// it reads once there is a message around them.
const maxNesting = 101

// maxValue bounds a key or a value that is told whole. No id is near it.
const maxValue = 4 << 10

// Reader reads the JSON arguments of a tool call while a model writes them. It
// takes them in pieces that may be cut anywhere, looks at each byte once, and
// keeps nothing of what it has told: the cost of a piece depends on its own
// length alone.
//
//	r := compose.NewReader(false, compose.Field{Name: "spaceId"}, compose.Field{Name: "text", Stream: true})
//	for _, t := range r.Feed(`{"spaceId":"shop","text":"Two lap`) { … }
//
// Names are compared as encoding/json does it for a map: decoded, letter by
// letter. What a streamed field has since its last TokenBegin, and the last whole
// value of each other field, are what encoding/json decodes into a map: the last
// of several equal keys wins, broken UTF-8 and lone surrogates become U+FFFD.
// Properties of the same name inside other values are none of the fields. Texts
// never split a character. A whole value of more than 4096 bytes is told as a
// [TokenValue] that is empty, and so can never be taken for a shorter one.
type Reader struct {
	fields []Field
	rest   bool

	state state
	stack []byte // '{' or '[' for every value that is open
	err   error
	bytes int // read before this piece

	tokens []Token
	from   int    // where in the piece the verbatim text begins that was not told yet
	kept   int    // members in the rest
	key    []byte // the decoded key, while it may be that of a field
	raw    []byte // the same as it was written
	field  int    // whose value is being read, or -1
	sink   sink
	value  []byte // the value that is told whole
	over   bool   // value has more than maxValue bytes

	text    textState
	literal string // what is left of true, false or null
}

// state is what the reader expects next.
type state int

const (
	wantObject  state = iota // the opening brace of all
	wantKeyEnd               // a key or the end of the object
	wantKey                  // a key
	inKey                    // the text of a key
	wantColon                // between key and value
	wantValue                // a value
	wantItemEnd              // a value or the end of the array
	inString                 // the text of a value
	inLiteral                // true, false, null
	inMinus                  // a number: digits are due
	inZero                   // behind a leading zero
	inInt                    // in the digits before a point
	inPoint                  // behind the point
	inFraction               // in the digits behind it
	inExponent               // behind the e
	inSign                   // behind the sign of the exponent
	inPower                  // in the digits of the exponent
	afterValue               // a comma or the end of what is open
	whole                    // nothing but white space
	broken                   // nothing at all
)

// sink is where a value goes.
type sink int

const (
	sinkNone   sink = iota
	sinkRest        // as written, into the rest
	sinkKey         // decoded and as written, until it is known which field it is
	sinkStream      // decoded, told at once
	sinkWhole       // decoded, kept until it ends
	sinkJSON        // as written, kept until it ends
)

// NewReader returns a reader of one call's arguments. With rest it also tells
// the JSON of the arguments without the named fields, as it grows: compact, as by
// Compact of encoding/json, and otherwise as the model wrote it.
func NewReader(rest bool, fields ...Field) *Reader {
	return &Reader{rest: rest, fields: fields, field: -1}
}

// Err returns why the arguments are not JSON, nil as long as they may be.
func (r *Reader) Err() error { return r.err }

// Whole reports whether the object has been read to its end.
func (r *Reader) Whole() bool { return r.state == whole }

// Feed reads the next piece and returns what is new. The slice is used again by
// the next call; its texts stay.
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
	r.verbatim(piece, i)
	r.bytes += len(piece)
	return r.tokens
}

// Close says that no piece follows and returns what is new: an error when the
// arguments are not whole. No arguments at all, or only white space, count as {}.
func (r *Reader) Close() []Token {
	r.tokens, r.from = r.tokens[:0], 0
	switch r.state {
	case whole, broken:
	case wantObject:
		r.state = whole
		if r.rest {
			r.tell(TokenRest, 0, "{}")
		}
		r.tell(TokenEnd, 0, "")
	default:
		r.fail("", 0, "they end in the middle")
	}
	return r.tokens
}

// all reads whole arguments.
func (r *Reader) all(arguments string, take func(Token)) {
	for _, t := range r.Feed(arguments) {
		take(t)
	}
	for _, t := range r.Close() {
		take(t)
	}
}

func (r *Reader) tell(kind TokenKind, field int, text string) {
	r.tokens = append(r.tokens, Token{Kind: kind, Field: field, Text: text})
}

func (r *Reader) fail(piece string, at int, what string) {
	r.verbatim(piece, at)
	r.err = &shoal.Error{
		Op: "compose.Reader", Kind: shoal.InvalidJSON,
		Msg: fmt.Sprintf("The arguments are not a JSON object: at byte %d, %s.", r.bytes+at, what),
	}
	r.state = broken
	r.tell(TokenError, 0, "")
}

// step reads the byte at i, which is outside of any string, and returns where to
// go on.
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
			r.verbatim(piece, i)
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
			r.tell(TokenRest, 0, "{")
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
		return r.next(piece, i)
	}
	r.fail(piece, i, fmt.Sprintf("%q is not expected", c))
	return i
}

// next reads what stands between values.
func (r *Reader) next(piece string, i int) int {
	open := r.stack[len(r.stack)-1]
	switch c := piece[i]; {
	case c == ',' && open == '{':
		r.state = wantKey
	case c == ',':
		r.state = wantValue
	case c == open+2: // the closing bracket, in ASCII
		return r.pop(piece, i)
	default:
		r.fail(piece, i, fmt.Sprintf("%q is not expected", c))
		return i
	}
	return i + 1
}

// beginValue reads the first byte of a value.
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
			r.fail(piece, i, fmt.Sprintf("they are nested deeper than %d levels", maxNesting))
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
		r.fail(piece, i, fmt.Sprintf("%q begins no value", c))
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
			r.tell(TokenRest, 0, "}")
		}
		r.tell(TokenEnd, 0, "")
	case 1:
		r.endMember(piece, i+1)
	default:
		r.state = afterValue
	}
	return i + 1
}
