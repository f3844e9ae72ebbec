package run

import (
	"bytes"
	"context"
	"errors"
	"image"
	_ "image/gif"  // their sizes
	_ "image/jpeg" // are looked
	_ "image/png"  // at
	"iter"
	"net/http"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/spacetool"
)

// keepFile stores a file that a tool made.
func (x *execution) keepFile(ctx context.Context, f shoal.File, data []byte) (made shoal.File, err error) {
	err = x.write(ctx, func(c *hub.RunChange) (err error) {
		made, err = c.AddFile(f, data)
		return err
	})
	return made, err
}

// said returns what the run's conversation holds so far.
func (x *execution) said(ctx context.Context) ([]agent.Message, error) {
	r, err := x.store.Load(ctx, string(x.run.ID))
	return r.Messages, err
}

const (
	// maxPictures is how many pictures a model is given at once: those of the newest
	// messages, and of one message the first.
	maxPictures = 4
	// maxPicture is how many bytes one has, maxPictureSide how many pixels a side.
	maxPicture     = 5 << 20
	maxPictureSide = 8000
)

// pictures gives models the pictures that the messages name, each time anew: what
// is stored of a conversation holds their paths alone, and an agent that may not
// see a file any more does not. A model that refuses pictures is asked without.
func (x *execution) pictures() agent.Middleware {
	return agent.Middleware{Name: "pictures", Model: func(next agent.ModelFunc) agent.ModelFunc {
		return func(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
			return func(yield func(agent.Chunk, error) bool) {
				messages, plain, shown, err := x.withPictures(ctx, req.Messages)
				if err != nil {
					yield(agent.Chunk{}, err)
					return
				}
				with, without := *req, *req
				with.Messages, without.Messages = messages, plain
				if shown && !relayUnlessRefused(next(ctx, &with), yield) {
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

// relayUnlessRefused passes an answer on, unless it begins with the refusal of the
// request.
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

// withPictures returns the messages with the bytes of the newest pictures, and
// without any. shown says whether there is one.
func (x *execution) withPictures(ctx context.Context, messages []agent.Message) (with, without []agent.Message, shown bool, err error) {
	with, without = slices.Clone(messages), slices.Clone(messages)
	left := maxPictures
	for i := len(messages) - 1; i >= 0; i-- {
		if !slices.ContainsFunc(messages[i].Parts, named) {
			continue
		}
		plain := slices.DeleteFunc(slices.Clone(messages[i].Parts), named)
		var pictures []agent.Part
		for _, p := range messages[i].Parts {
			if !named(p) || left == 0 {
				continue
			}
			kind, data, err := x.picture(ctx, p.File.URL)
			if err != nil {
				return nil, nil, false, err
			}
			if data != nil {
				left--
				pictures = append(pictures, agent.Part{Type: agent.FilePart, File: &agent.File{Name: p.File.Name, MediaType: kind, Data: data}})
			}
		}
		without[i].Parts, with[i].Parts = plain, append(slices.Clone(plain), pictures...)
		shown = shown || len(pictures) > 0
	}
	return with, without, shown, nil
}

// fileOf is the file of this server that a URL leads to.
func fileOf(url string) (shoal.SessionID, shoal.FileID, bool) {
	return shoal.Part{Type: shoal.FilePart, URL: url}.File()
}

// named reports whether a part is a picture that is told by its path.
func named(p agent.Part) bool {
	if p.Type != agent.FilePart || p.File == nil || len(p.File.Data) > 0 {
		return false
	}
	_, _, here := fileOf(p.File.URL)
	return here
}

// picture reads a picture that the agent may see. None is returned for anything
// that a vendor would refuse.
func (x *execution) picture(ctx context.Context, url string) (kind string, data []byte, err error) {
	session, id, _ := fileOf(url)
	if session != x.run.SessionID {
		return "", nil, nil
	}
	err = x.read(ctx, func(tx hub.Tx) error {
		_, by, stored, err := tx.File(session, id)
		if err != nil {
			return err
		}
		seen := by == x.run.AgentID
		if !seen {
			seen, err = tx.FileShownTo(session, id, x.run.AgentID)
		}
		if seen {
			data = stored
		}
		return err
	})
	if errors.Is(err, shoal.NotFound) {
		return "", nil, nil
	}
	kind = http.DetectContentType(data)
	if err != nil || len(data) > maxPicture || !slices.Contains(spacetool.Pictures, kind) || !measured(kind, data) {
		return "", nil, err
	}
	return kind, data, nil
}

// measured reports whether a picture has a size that vendors take. That of WebP
// pictures is theirs to judge.
func measured(kind string, data []byte) bool {
	if kind == "image/webp" {
		return true
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	return err == nil && c.Width > 0 && c.Height > 0 && c.Width <= maxPictureSide && c.Height <= maxPictureSide
}
