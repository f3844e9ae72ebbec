package compose

// Field names a top-level property of the arguments and selects how its value is returned:
// streamed or as a whole.
type Field struct {
	Name string
	// Stream returns the decoded text of a string while it is written, and [TokenOther]
	// for a value that is not a string. Without Stream the complete value is returned: the
	// decoded text of a string, the JSON of anything else.
	Stream bool
}

// TokenKind is the meaning of a [Token].
type TokenKind int

// The kinds of tokens.
const (
	TokenText   TokenKind = iota + 1 // Text is appended to the streamed Field
	TokenBegin                       // a string of the streamed Field starts and replaces the previous value
	TokenOther                       // the streamed Field has a value that is not a string, which replaces the previous value
	TokenString                      // Text is the complete string of Field
	TokenValue                       // Text is the JSON of Field's value, which is not a string
	TokenRest                        // Text is appended to the JSON of the arguments without the named fields
	TokenEnd                         // the object is complete; anything that follows is an error
	TokenError                       // the arguments are not JSON; nothing follows
)

// Token is one unit of output of a [Reader]. Field is an index into the fields that were
// passed to [NewReader].
type Token struct {
	Kind  TokenKind
	Field int
	Text  string
}
