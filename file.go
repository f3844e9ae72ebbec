package shoal

import (
	"fmt"
	"strings"
)

// Validate checks what a caller hands in to upload a file: [TooLarge] over
// [MaxFile] bytes, else every wrong field in one [InvalidArgument] error.
func (f File) Validate() error {
	if f.Size > MaxFile {
		return E("", TooLarge, fmt.Sprintf("The file has %d bytes; at most %d are allowed.", f.Size, MaxFile))
	}
	var p problems
	p.add(checkLine("name", f.Name, MaxName, true))
	p.add(checkLine("mediaType", f.MediaType, MaxName, true))
	return p.err()
}

// FilePath is where this server serves a file, as the URL of a file part may say
// it.
func FilePath(session SessionID, id FileID) string {
	return "/v1/sessions/" + string(session) + "/files/" + string(id)
}

// File returns the file of this server that a file part shows; ok is false for
// one that lies elsewhere, and for other parts.
func (p Part) File() (session SessionID, id FileID, ok bool) {
	rest, here := strings.CutPrefix(p.URL, "/v1/sessions/")
	said, file, found := strings.Cut(rest, "/files/")
	session, id = SessionID(said), FileID(file)
	if p.Type != FilePart || !here || !found || CheckID("", said) != nil || CheckID("", file) != nil {
		return "", "", false
	}
	return session, id, true
}
