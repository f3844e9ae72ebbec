package httpapi

import (
	"cmp"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/httpapi/upload"
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
			upload: true, idempotent: true, status: http.StatusCreated, out: shoal.File{}, errors: []shoal.Kind{shoal.SessionClosed},
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
	return c.noContentOr(c.Hub.Files.Delete(c.ctx(), c.who, c.session(), shoal.FileID(c.r.PathValue("file"))))
}

func uploadFile(c *call) error {
	file, err := upload.Read(c.r)
	if err != nil {
		return err
	}
	name, _ := c.value("name")
	n := shoal.File{
		Name: cmp.Or(name, file.Name, "file"), MediaType: cmp.Or(file.MediaType, "application/octet-stream"), Size: int64(len(file.Data)),
	}
	url := func(id shoal.FileID) string { return shoal.FilePath(c.session(), id) }
	stored, err := c.Hub.Files.Upload(c.ctx(), c.who, c.session(), n, file.Data, url, c.idempotencyKey())
	return c.answerOr(renameField(err, "name", "query.name"), http.StatusCreated, stored)
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
	return c.answerCacheable(string(file.ID), file.MediaType, data)
}

// kept answers with what a browser may keep for itself under a tag, or 304 where it
// has it already.
func (c *call) answerCacheable(tag, mediaType string, data []byte) error {
	c.w.Header().Set("ETag", `"`+tag+`"`)
	c.caching = private
	if strings.Contains(c.r.Header.Get("If-None-Match"), c.w.Header().Get("ETag")) {
		return c.answerNotModified()
	}
	return c.write(http.StatusOK, mediaType, data)
}

// private lets a browser keep an answer for itself, and ask each time whether it
// may still show it.
var private = []string{"private, no-cache"}

// unchanged answers 304: the client has it already.
func (c *call) answerNotModified() error {
	control := c.allowTime(0)
	defer c.endTime(control)
	c.startResponse(http.StatusNotModified)
	c.w.WriteHeader(http.StatusNotModified)
	return control.Flush()
}
