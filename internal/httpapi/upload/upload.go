// Package upload reads a file from the body of a request.
package upload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"strings"

	"github.com/shoal-dev/shoal"
)

// uploadOverhead is the maximum size of the form around a file.
const uploadOverhead = 64 << 10

// MaxBody is the maximum size of the body of an upload in bytes.
const MaxBody = shoal.MaxFile + uploadOverhead

// File is an uploaded file. Name and MediaType are empty where the request does not state them.
type File struct {
	Name, MediaType string
	Data            []byte
}

// Read reads the file that the body of r is, or that a multipart form in it contains. Its errors
// are of [shoal.Error].
func Read(r *http.Request) (File, error) {
	sent := r.Header.Get("Content-Type")
	mediaType, params, err := mime.ParseMediaType(sent)
	if err != nil && sent != "" {
		return File{}, shoal.E("httpapi.uploadFile", shoal.UnsupportedMediaType, "The Content-Type of the file cannot be read. Send one such as image/png.")
	}
	file := source{body: r.Body, mediaType: mediaType, name: dispositionName(r.Header.Get("Content-Disposition"))}
	if mediaType == "multipart/form-data" {
		if file, err = formFile(r.Body, params["boundary"]); err != nil {
			return File{}, uploadError(err)
		}
	} else if charset := params["charset"]; charset != "" {
		file.mediaType = mime.FormatMediaType(mediaType, map[string]string{"charset": charset})
	}
	data, err := file.read()
	if err != nil {
		return File{}, uploadError(err)
	}
	return File{Name: file.name, MediaType: file.mediaType, Data: data}, nil
}

// source is where the content of a file comes from.
type source struct {
	body            io.Reader
	name, mediaType string
	rest            *multipart.Reader // the rest of the form
}

// read returns the content of the file, which must be the only one in its form.
func (u source) read() ([]byte, error) {
	const op = "httpapi.uploadFile"
	var data bytes.Buffer
	if n, err := io.Copy(&data, io.LimitReader(u.body, shoal.MaxFile+1)); err != nil {
		return nil, err
	} else if n > shoal.MaxFile {
		return nil, shoal.E(op, shoal.TooLarge, fmt.Sprintf("The file has more than the %d bytes that are allowed.", shoal.MaxFile))
	}
	if u.rest == nil {
		return data.Bytes(), nil
	}
	switch _, err := nextFile(u.rest); {
	case err == nil:
		return nil, shoal.Invalid("body", "has more than one file: upload each in a call of its own")
	case errors.Is(err, io.EOF):
		return data.Bytes(), nil
	default:
		return nil, err
	}
}

// formFile returns the first file of a form.
func formFile(body io.Reader, boundary string) (source, error) {
	if boundary == "" {
		return source{}, shoal.Invalid("header.Content-Type", "has no boundary, which a form requires")
	}
	form := multipart.NewReader(body, boundary)
	part, err := nextFile(form)
	if errors.Is(err, io.EOF) {
		return source{}, shoal.Invalid("body", "is a form without a file")
	} else if err != nil {
		return source{}, err
	}
	mediaType := part.Header.Get("Content-Type")
	if _, _, err := mime.ParseMediaType(mediaType); err != nil {
		mediaType = ""
	}
	return source{body: part, name: part.FileName(), mediaType: mediaType, rest: form}, nil
}

// nextFile returns the next field of a form that is a file, or io.EOF after the last one.
func nextFile(form *multipart.Reader) (*multipart.Part, error) {
	for {
		part, err := form.NextPart()
		if err != nil || part.FileName() != "" {
			return part, err
		}
	}
}

// uploadError returns err if it is a *shoal.Error, else an error for the client that wraps it.
func uploadError(err error) error {
	var known *shoal.Error
	if errors.As(err, &known) {
		return err
	}
	return &shoal.Error{
		Op: "httpapi.uploadFile", Kind: shoal.InvalidArgument, Err: err,
		Msg: "The body is not a valid multipart form.", Fields: []shoal.FieldError{{Location: "body", Message: "is not a valid form"}},
	}
}

// dispositionName returns the file name in a Content-Disposition header, empty if it has none.
func dispositionName(header string) string {
	_, params, err := mime.ParseMediaType(header)
	if err != nil {
		return ""
	}
	name := params["filename"]
	if name = path.Base(strings.ReplaceAll(name, `\`, "/")); name == "." || name == "/" {
		return ""
	}
	return name
}
