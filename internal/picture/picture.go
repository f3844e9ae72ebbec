// Package picture adds the bytes of pictures to the requests of a model. Stored
// conversations hold only the paths of pictures.
package picture

import (
	"bytes"
	"context"
	"errors"
	"image"
	_ "image/gif"  // formats whose
	_ "image/jpeg" // dimensions
	_ "image/png"  // are checked
	"iter"
	"net/http"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/spacetool"
)

const (
	// maxPictures bounds the pictures of one request: those of the newest messages, and of
	// one message the first ones.
	maxPictures = 4
	// maxBytes and maxSide bound one picture; a side is measured in pixels.
	maxBytes = 5 << 20
	maxSide  = 8000
)

// ReadFunc returns the bytes of a file of this server, or nil if the agent may not see
// the file any more.
type ReadFunc func(ctx context.Context, session shoal.SessionID, file shoal.FileID) ([]byte, error)

// Middleware adds the pictures that the messages of a request name, and removes their
// paths. It reads them for each request, so that a model does not see a picture any more
// that its agent has lost access to. A model that refuses the request is called again
// without pictures.
func Middleware(read ReadFunc) agent.Middleware {
	return agent.Middleware{Name: "pictures", Model: func(next agent.ModelFunc) agent.ModelFunc {
		return func(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
			return func(yield func(agent.Chunk, error) bool) {
				messages, plain, found, err := read.addPictures(ctx, req.Messages)
				if err != nil {
					yield(agent.Chunk{}, err)
					return
				}
				with, without := *req, *req
				with.Messages, without.Messages = messages, plain
				if found && !relayUnlessRefused(next(ctx, &with), yield) {
					return
				}
				for chunk, err := range next(ctx, &without) {
					if !yield(chunk, err) {
						return
					}
				}
			}
		}
	}}
}

// relayUnlessRefused relays an answer unless it begins with the refusal of the request.
func relayUnlessRefused(answer iter.Seq2[agent.Chunk, error], yield func(agent.Chunk, error) bool) (refused bool) {
	began := false
	for chunk, err := range answer {
		var e *agent.ModelError
		if !began && errors.As(err, &e) && e.Class == agent.ClassInvalid {
			return true
		}
		began = true
		if !yield(chunk, err) {
			return false
		}
	}
	return false
}

// addPictures returns the messages with the bytes of the newest pictures, and without
// any picture. found reports whether there is a picture.
func (read ReadFunc) addPictures(ctx context.Context, messages []agent.Message) (with, without []agent.Message, found bool, err error) {
	with, without = slices.Clone(messages), slices.Clone(messages)
	left := maxPictures
	for i := len(messages) - 1; i >= 0; i-- {
		if !slices.ContainsFunc(messages[i].Parts, isPath) {
			continue
		}
		plain := slices.DeleteFunc(slices.Clone(messages[i].Parts), isPath)
		var pictures []agent.Part
		for _, p := range messages[i].Parts {
			if !isPath(p) || left == 0 {
				continue
			}
			mediaType, data, err := read.picture(ctx, p.File.URL)
			if err != nil {
				return nil, nil, false, err
			}
			if data != nil {
				left--
				pictures = append(pictures, agent.Part{Type: agent.FilePart, File: &agent.File{Name: p.File.Name, MediaType: mediaType, Data: data}})
			}
		}
		without[i].Parts, with[i].Parts = plain, append(slices.Clone(plain), pictures...)
		found = found || len(pictures) > 0
	}
	return with, without, found, nil
}

// fileOf returns the file of this server that a URL leads to.
func fileOf(url string) (shoal.SessionID, shoal.FileID, bool) {
	return shoal.Part{Type: shoal.FilePart, URL: url}.File()
}

// isPath reports whether a part names a file of this server without its bytes.
func isPath(p agent.Part) bool {
	if p.Type != agent.FilePart || p.File == nil || len(p.File.Data) > 0 {
		return false
	}
	_, _, local := fileOf(p.File.URL)
	return local
}

// picture reads a picture. It returns no data for a file that the agent may not see, and
// for one that a vendor would refuse.
func (read ReadFunc) picture(ctx context.Context, url string) (mediaType string, data []byte, err error) {
	session, id, _ := fileOf(url)
	if data, err = read(ctx, session, id); err != nil {
		return "", nil, err
	}
	mediaType = http.DetectContentType(data)
	if len(data) > maxBytes || !slices.Contains(spacetool.Pictures, mediaType) || !fits(mediaType, data) {
		return "", nil, nil
	}
	return mediaType, data, nil
}

// fits reports whether vendors accept a picture's dimensions. It does not measure WebP
// pictures, which vendors check themselves.
func fits(mediaType string, data []byte) bool {
	if mediaType == "image/webp" {
		return true
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	return err == nil && c.Width > 0 && c.Height > 0 && c.Width <= maxSide && c.Height <= maxSide
}
