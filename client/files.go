package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/shoal-dev/shoal"
)

// UploadFile stores a file. A file part with its name, media type, size and URL
// shows it in a space. Its media type is application/octet-stream if empty. TooLarge over
// shoal.MaxFile bytes. data must not change until the call returns.
func (s *Session) UploadFile(ctx context.Context, name, mediaType string, data []byte, options ...CallOption) (made shoal.File, err error) {
	if mediaType == "" {
		mediaType = "application/octet-stream"
	}
	in := call{op: "client.UploadFile", path: s.path("files"), query: url.Values{"name": {name}}, body: content{mediaType, data}}
	return made, s.client.create(ctx, in, &made, options)
}

// DownloadFile returns the content of an uploaded file. It fails with NotFound for
// callers that neither uploaded it nor are in a space that shows it.
func (s *Session) DownloadFile(ctx context.Context, id shoal.FileID) (data []byte, err error) {
	in := call{op: "client.DownloadFile", path: s.path("files", string(id)), accept: "*/*"}
	return data, s.client.do(ctx, in, &data)
}

// DeleteFile erases a file with its name; messages that show it stay. For its uploader,
// the owner of the agent that uploaded it, and admins and owners of the session.
func (s *Session) DeleteFile(ctx context.Context, id shoal.FileID) error {
	in := call{op: "client.DeleteFile", method: http.MethodDelete, path: s.path("files", string(id)), once: true}
	return s.client.do(ctx, in, nil)
}
