package httpapi

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/httpapi/query"
	"github.com/shoal-dev/shoal/internal/httpapi/spool"
	"github.com/shoal-dev/shoal/internal/httpapi/upload"
	"github.com/shoal-dev/shoal/internal/hub/archive"
)

func exportRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: sessionPath + "/export", do: exportSession, id: "exportSession", tag: "Sessions",
			summary: "Export a session",
			about: "Returns JSON lines (`application/jsonl`) that describe the session at one moment: its entities, agents, spaces, messages, inboxes, runs, plans and files, " +
				"without keys and short-lived data. docs/export.md describes the lines. For admins and owners of the session.",
			file: true, status: http.StatusOK,
		},
		{
			method: http.MethodPost, path: sessionPath + "/import", do: importSession, id: "importSession", tag: "Sessions",
			summary: "Import a session",
			about: "The body is an export, possibly of a session with another id. The session becomes visible only after the whole export was read and validated; " +
				"a failed import changes nothing. Without `replace`, a session with this id must not exist, or must be empty. " +
				"Queued and running runs are canceled; suspended runs stay suspended. Admins only.",
			query: []param{
				{"replace", "Replace a session that is not empty. Its keys remain.", booleanParam},
				{"pausePlans", "Pause the plans, for a copy that runs beside the original.", booleanParam},
			},
			media: shoal.ExportType, status: http.StatusCreated, out: shoal.Imported{}, errors: []shoal.Kind{shoal.Conflict, shoal.AlreadyExists},
		},
	}
}

// exportSession writes the export to a temporary file and then sends the file. That way a slow client
// does not keep a database transaction open, and a failed export gets an error response.
func exportSession(c *call) error {
	kept, err := spool.New(c.Spool)
	if err != nil {
		return err
	}
	defer kept.Close()
	if err := c.Hub.Archive.Export(c.ctx(), c.caller, c.session(), c.Version, kept); err != nil {
		return spool.Error(err)
	}
	export, size, err := kept.Rewind()
	if err != nil {
		return spool.Error(err)
	}
	c.w.Header().Set("Content-Disposition", `attachment; filename="`+string(c.session())+`.jsonl"`)
	h := c.startResponse(http.StatusOK)
	h["Content-Type"] = []string{shoal.ExportType}
	h["Content-Length"] = []string{strconv.FormatInt(size, 10)}
	control := c.allowTime(int(size))
	defer c.endTime(control)
	c.w.WriteHeader(http.StatusOK)
	if c.r.Method == http.MethodHead {
		return nil
	}
	if _, err := io.Copy(c.w, export); err != nil {
		return err
	}
	if err := control.Flush(); err != nil {
		return err
	}
	return context.Cause(c.r.Context())
}

func importSession(c *call) error {
	var o archive.ImportOptions
	var err error
	if o.Replace, err = query.Bool(c.value, "replace"); err != nil {
		return err
	}
	if o.PausePlans, err = query.Bool(c.value, "pausePlans"); err != nil {
		return err
	}
	made, err := c.Hub.Archive.Import(c.ctx(), c.caller, c.session(), upload.Slow(c.w, c.r, guard.UploadTime), o)
	return c.answerOr(err, http.StatusCreated, made)
}
