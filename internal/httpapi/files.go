package httpapi

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
)

const (
	filesPath      = sessionPath + "/files"
	signedURLsPath = sessionPath + "/signed-urls"
)

func fileRoutes() []route {
	return []route{
		{
			method: http.MethodPost, path: filesPath, do: uploadFile, id: "uploadFile", tag: "Files",
			summary: "Upload a file",
			about: "The body is the file, with its Content-Type and its name in `?name=` or in Content-Disposition; or multipart/form-data with one file. At most 10 MiB. " +
				"Put the answer's `name`, `mediaType`, `size` and `url` into a file part to show it in a space.",
			query:  []param{{"name", "The file's name; it wins over others.", stringParam}},
			upload: true, once: true, status: http.StatusCreated, out: shoal.File{}, errors: []shoal.Kind{shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: filesPath + "/{file}", do: serveFile, id: "getFile", tag: "Files",
			summary: "Download a file",
			about: "To its uploader, to members of the spaces that show it, to services and admins. Everything but PNG, JPEG, GIF and WebP is an attachment. " +
				"With If-None-Match it can be 304.",
			query: signedParams, file: true, status: http.StatusOK,
		},
		{
			method: http.MethodPost, path: signedURLsPath, do: signURL, id: "signURL", tag: "Files",
			summary: "Sign the URL of a file or a renderer",
			about: "For five minutes whoever has the answer's `url` reads what is there as the caller, without a key: for a picture, a frame or a download of a page, which send no headers. " +
				"It ends with the key. `expiresAt` is null on a server that asks for no keys.",
			in: URLInput{}, example: `{"url": "/v1/sessions/default/files/fil_1"}`, status: http.StatusOK, out: shoal.SignedURL{},
		},
		{
			method: http.MethodDelete, path: filesPath + "/{file}", do: deleteFile, id: "deleteFile", tag: "Files",
			summary: "Delete a file",
			about: "Erases its content and its name. Messages that show it keep their part, whose `url` is 404 from then on; deleting them takes the name there, too. " +
				"For its uploader, the owner of the agent that uploaded or made it, and admins and owners of the session.",
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.Forbidden},
		},
	}
}

// signedParams are the parameters of what can be read by a signed URL.
var signedParams = []param{{auth.SignedParam, "The signature of a signed URL, in place of a key.", stringParam}}

// signURL signs the path of a file or of a renderer's page of the session.
func signURL(c *call) error {
	var in URLInput
	if err := c.decode(&in); err != nil {
		return err
	}
	if _, err := c.Hub.Sessions.Get(c.ctx(), c.who, c.session()); err != nil {
		return err
	}
	if !signable(c.session(), in.URL) {
		return shoal.Invalid("url", "must be the url of a file or of a renderer of this session, as the API gives it")
	}
	made, err := c.Auth.Sign(c.ctx(), c.who, in.URL)
	return c.answerOr(err, http.StatusOK, made)
}

// URLInput is the body of signURL.
type URLInput struct {
	URL string `json:"url"`
}

// signable reports whether a path names a file, or one version of a renderer, of a
// session. Whoever reads it by the signature needs the right to.
func signable(session shoal.SessionID, path string) bool {
	if id, found := strings.CutPrefix(path, shoal.FilePath(session, "")); found {
		return shoal.CheckID("file", id) == nil
	}
	rest, found := strings.CutPrefix(path, "/console/renderers/"+string(session)+"/")
	name, version, _ := strings.Cut(rest, "/")
	n, err := strconv.Atoi(version)
	return found && err == nil && shoal.RendererPath(session, shoal.RendererName(name), n) == path && shoal.CheckID("renderer", name) == nil
}

func deleteFile(c *call) error {
	return c.done(c.Hub.Files.Delete(c.ctx(), c.who, c.session(), shoal.FileID(c.r.PathValue("file"))))
}

// uploadOverhead is what the wrapping of a file in a form may add to it.
const uploadOverhead = 64 << 10

// maxUpload is how many bytes the body of an upload may have.
const maxUpload = shoal.MaxFile + uploadOverhead

func uploadFile(c *call) error {
	mediaType, params, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil && c.r.Header.Get("Content-Type") != "" {
		return shoal.E("httpapi.uploadFile", shoal.UnsupportedMediaType, "The Content-Type of the file cannot be read. Send one such as image/png.")
	}
	file := upload{body: c.r.Body, mediaType: mediaType, name: dispositionName(c.r.Header.Get("Content-Disposition"))}
	if mediaType == "multipart/form-data" {
		if file, err = formFile(c.r.Body, params["boundary"]); err != nil {
			return uploadError(err)
		}
	} else if charset := params["charset"]; charset != "" {
		file.mediaType = mime.FormatMediaType(mediaType, map[string]string{"charset": charset})
	}
	data, err := file.read()
	if err != nil {
		return uploadError(err)
	}
	name, _ := c.value("name")
	n := shoal.File{
		Name: cmp.Or(name, file.name, "file"), MediaType: cmp.Or(file.mediaType, "application/octet-stream"), Size: int64(len(data)),
	}
	url := func(id shoal.FileID) string { return shoal.FilePath(c.session(), id) }
	stored, err := c.Hub.Files.Upload(c.ctx(), c.who, c.session(), n, data, url, c.idempotencyKey())
	return c.answerOr(renamed(err, "name", "query.name"), http.StatusCreated, stored)
}

// upload is a file on its way in.
type upload struct {
	body            io.Reader
	name, mediaType string
	rest            *multipart.Reader // of a form
}

// read reads the file, which must be the only one of its form.
func (u upload) read() ([]byte, error) {
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
		return nil, shoal.Invalid("body", "has more than one file: upload them one by one")
	case errors.Is(err, io.EOF):
		return data.Bytes(), nil
	default:
		return nil, err
	}
}

// formFile finds the file in a form.
func formFile(body io.Reader, boundary string) (upload, error) {
	if boundary == "" {
		return upload{}, shoal.Invalid("header.Content-Type", "has no boundary, so the form cannot be read")
	}
	form := multipart.NewReader(body, boundary)
	part, err := nextFile(form)
	if errors.Is(err, io.EOF) {
		return upload{}, shoal.Invalid("body", "is a form without a file")
	} else if err != nil {
		return upload{}, err
	}
	mediaType := part.Header.Get("Content-Type")
	if _, _, err := mime.ParseMediaType(mediaType); err != nil {
		mediaType = ""
	}
	return upload{body: part, name: part.FileName(), mediaType: mediaType, rest: form}, nil
}

// nextFile returns the next field of a form that is a file; io.EOF behind the
// last.
func nextFile(form *multipart.Reader) (*multipart.Part, error) {
	for {
		part, err := form.NextPart()
		if err != nil || part.FileName() != "" {
			return part, err
		}
	}
}

// uploadError is err as the client may know it.
func uploadError(err error) error {
	var known *shoal.Error
	if errors.As(err, &known) {
		return err
	}
	return &shoal.Error{
		Op: "httpapi.uploadFile", Kind: shoal.InvalidArgument, Err: err,
		Msg: "The body is no multipart form that can be read.", Fields: []shoal.FieldError{{Location: "body", Message: "is no form that can be read"}},
	}
}

// dispositionName reads a file's name from a header, empty if it tells none.
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

// inlineTypes are what a browser may show in place: pictures that can hold no
// program.
var inlineTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// filePolicy lets a file load and run nothing, should a browser show it after
// all.
const filePolicy = "sandbox; default-src 'none'"

func serveFile(c *call) error {
	file, data, err := c.Hub.Files.Get(c.ctx(), c.who, c.session(), shoal.FileID(c.r.PathValue("file")))
	if err != nil {
		return err
	}
	disposition := "attachment"
	if slices.Contains(inlineTypes, file.MediaType) {
		disposition = "inline"
	}
	h := c.w.Header()
	h.Set("Content-Disposition", cmp.Or(mime.FormatMediaType(disposition, map[string]string{"filename": file.Name}), disposition))
	h.Set("Content-Security-Policy", filePolicy)
	return c.kept(string(file.ID), file.MediaType, data)
}

// kept answers with what a browser may keep for itself under a tag, or 304 where it
// has it already.
func (c *call) kept(tag, mediaType string, data []byte) error {
	c.w.Header().Set("ETag", `"`+tag+`"`)
	c.caching = private
	if strings.Contains(c.r.Header.Get("If-None-Match"), c.w.Header().Get("ETag")) {
		return c.unchanged()
	}
	return c.write(http.StatusOK, mediaType, data)
}

// private lets a browser keep an answer for itself, and ask each time whether it
// may still show it.
var private = []string{"private, no-cache"}

// unchanged answers 304: the client has it already.
func (c *call) unchanged() error {
	control := c.allowTime(0)
	defer c.endTime(control)
	c.start(http.StatusNotModified)
	c.w.WriteHeader(http.StatusNotModified)
	return control.Flush()
}
