package aisdkapi

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/shoal-dev/shoal"
)

// attachment is the content of a file that has to be uploaded before the message that shows it is posted.
type attachment struct {
	part    int // its index in the draft
	content []byte
}

// file returns a file of the user as a part, and its content if the client sends that as a data URL.
func file(p uiPart) (shoal.Part, []byte, error) {
	out := shoal.Part{Type: shoal.FilePart, Name: p.Filename, MediaType: cmp.Or(p.MediaType, "application/octet-stream"), URL: p.URL}
	rest, here := strings.CutPrefix(p.URL, "data:")
	if !here {
		if out.Name == "" {
			out.Name = "file"
		}
		return out, nil, nil
	}
	out.URL = ""
	head, data, found := strings.Cut(rest, ",")
	media, encoded := strings.CutSuffix(head, ";base64")
	content, err := []byte(nil), error(nil)
	if encoded {
		content, err = base64.StdEncoding.DecodeString(data)
	} else {
		var text string
		text, err = url.PathUnescape(data)
		content = []byte(text)
	}
	if !found || err != nil {
		return out, nil, shoal.Invalid("messages", "must have files as a valid data URL, or as an http or https URL")
	}
	if p.MediaType == "" && media != "" {
		out.MediaType = media
	}
	if out.Name == "" {
		kind, _, _ := strings.Cut(out.MediaType, "/")
		out.Name = kind
	}
	return out, content, nil
}
