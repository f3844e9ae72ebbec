package compose

// Field names a property of the arguments, at their top level, and says how its
// value is told: as it grows, or whole.
type Field struct {
	Name string
	// Stream tells the decoded text of a string while it is written. A value that
	// is no string is then told as [TokenOther]. Without Stream a value is told
	// whole: the decoded text of a string, the JSON of anything else.
	Stream bool
}

// TokenKind says what a [Token] tells.
type TokenKind int

// The kinds of tokens.
const (
	TokenText   TokenKind = iota + 1 // Text is appended to the streamed Field
	TokenBegin                       // a string of the streamed Field begins; what it had before is replaced
	TokenOther                       // the streamed Field has a value that is no string; it replaces what it had
	TokenString                      // Text is the whole string of Field
	TokenValue                       // Text is the JSON of Field's value, which is no string
	TokenRest                        // Text is appended to the JSON of the arguments without the named fields
	TokenEnd                         // the object is whole; what follows, if anything, is an error
	TokenError                       // the arguments are not JSON; nothing follows
)

// Token is one thing that a [Reader] tells. Field is a place in the fields that
// the reader was made with.
type Token struct {
	Kind  TokenKind
	Field int
	Text  string
}
