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
	"github.com/shoal-dev/shoal/internal/httpapi/fields"
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
			about: "The body is the file, with its Content-Type and its name in `?name=` or in Content-Disposition; or multipart/form-data with one file. The limit is 10 MiB. " +
				"Use `name`, `mediaType`, `size` and `url` of the response in a file part to show the file in a space.",
			query:  []param{{"name", "The name of the file. It takes precedence over the name in a header or form.", stringParam}},
			upload: true, idempotent: true, status: http.StatusCreated, out: shoal.File{}, errors: []shoal.Kind{shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: filesPath + "/{file}", do: serveFile, id: "getFile", tag: "Files",
			summary: "Download a file",
			about: "For its uploader, members of the spaces that show it, services and admins. Everything except PNG, JPEG, GIF and WebP is an attachment. " +
				"Supports If-None-Match.",
			query: signedParams, file: true, status: http.StatusOK,
		},
		{
			method: http.MethodPost, path: signedURLsPath, do: signURL, id: "signURL", tag: "Files",
			summary: "Sign the URL of a file or a renderer",
			about: "For five minutes, the returned `url` can be read without a key, with the rights of the caller: for images, frames and downloads in a page, which cannot send headers. " +
				"The URL stops working when the key is revoked or expires. `expiresAt` is null on a server that requires no keys.",
			in: URLInput{}, example: `{"url": "/v1/sessions/default/files/fil_1"}`, status: http.StatusOK, out: shoal.SignedURL{},
		},
		{
			method: http.MethodDelete, path: filesPath + "/{file}", do: deleteFile, id: "deleteFile", tag: "Files",
			summary: "Delete a file",
			about: "Erases its content and its name. Messages that show the file keep their part, whose `url` then returns 404; deleting these messages erases the name there. " +
				"For its uploader, the owner of the agent that uploaded or created it, and admins and owners of the session.",
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.Forbidden},
		},
	}
}

// signedParams are the parameters of operations that accept a signed URL.
var signedParams = []param{{auth.SignedParam, "The signature of a signed URL, instead of a key.", stringParam}}

// signURL signs the path of a file or of a renderer page of the session.
func signURL(c *call) error {
	var in URLInput
	if err := c.decode(&in); err != nil {
		return err
	}
	if _, err := c.Hub.Sessions.Get(c.ctx(), c.caller, c.session()); err != nil {
		return err
	}
	if !signable(c.session(), in.URL) {
		return shoal.Invalid("url", "must be the url of a file or of a renderer of this session, as returned by the API")
	}
	made, err := c.Auth.Sign(c.ctx(), c.caller, in.URL)
	return c.answerOr(err, http.StatusOK, made)
}

// URLInput is the body of signURL.
type URLInput struct {
	URL string `json:"url"`
}

// signable reports whether path is the path of a file, or of one version of a renderer, of the
// session. The right to read it is checked when the signed URL is used.
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
	return c.noContentOr(c.Hub.Files.Delete(c.ctx(), c.caller, c.session(), shoal.FileID(c.r.PathValue("file"))))
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
	stored, err := c.Hub.Files.Upload(c.ctx(), c.caller, c.session(), n, file.Data, url, c.idempotencyKey())
	return c.answerOr(fields.Rename(err, "name", "query.name"), http.StatusCreated, stored)
}

// inlineTypes are the types that a browser may display: images that cannot contain
// scripts.
var inlineTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// filePolicy prevents a file from loading or executing anything if a browser displays it
// nevertheless.
const filePolicy = "sandbox; default-src 'none'"

func serveFile(c *call) error {
	file, data, err := c.Hub.Files.Get(c.ctx(), c.caller, c.session(), shoal.FileID(c.r.PathValue("file")))
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

// answerCacheable responds with data that a browser may cache under a tag, or with 304 if the browser has
// it.
func (c *call) answerCacheable(tag, mediaType string, data []byte) error {
	c.w.Header().Set("ETag", `"`+tag+`"`)
	c.caching = private
	if strings.Contains(c.r.Header.Get("If-None-Match"), c.w.Header().Get("ETag")) {
		return c.answerNotModified()
	}
	return c.write(http.StatusOK, mediaType, data)
}

// private lets only the browser cache a response, and requires it to revalidate each use.
var private = []string{"private, no-cache"}

// answerNotModified responds with 304.
func (c *call) answerNotModified() error {
	control := c.allowTime(0)
	defer c.endTime(control)
	c.startResponse(http.StatusNotModified)
	c.w.WriteHeader(http.StatusNotModified)
	return control.Flush()
}
