package httpapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub"
)

func exportRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: sessionPath + "/export", do: exportSession, id: "exportSession", tag: "Sessions",
			summary: "Export a session",
			about: "As JSON lines (`application/jsonl`), of one moment: the session with its entities, agents, spaces, messages, inboxes, runs, plans and files; " +
				"no keys, and nothing that is only there for a while. What is in the lines stands in docs/export.md. For admins and owners of the session.",
			file: true, status: http.StatusOK,
		},
		{
			method: http.MethodPost, path: sessionPath + "/import", do: importSession, id: "importSession", tag: "Sessions",
			summary: "Import a session",
			about: "The body is an export; it may be of a session with another id. Nobody sees anything of the session before all of it was read and found right; " +
				"what fails leaves nothing behind. A session of this id must not be there, or be empty, unless `replace` says so. " +
				"Runs that were queued or running are canceled, those that wait go on waiting. Admins only.",
			query: []param{
				{"replace", "Put the import in the place of a session that is not empty. Its keys stay.", booleanParam},
				{"pausePlans", "Pause the plans, as in a copy beside the original.", booleanParam},
			},
			media: shoal.ExportType, status: http.StatusCreated, out: shoal.Imported{}, errors: []shoal.Kind{shoal.Conflict, shoal.AlreadyExists},
		},
	}
}

// exportSession writes the export into a file and then sends the file: however slow
// the client is, the database is done with it before, and what fails is answered as
// a failure.
func exportSession(c *call) error {
	spool, err := newSpool(c.Spool)
	if err != nil {
		return err
	}
	defer spool.close()
	if err := c.Hub.Archive.Export(c.ctx(), c.who, c.session(), c.Version, spool); err != nil {
		return spoolError(err)
	}
	size, err := spool.rewind()
	if err != nil {
		return spoolError(err)
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
	if _, err := io.Copy(c.w, spool.file); err != nil {
		return err
	}
	if err := control.Flush(); err != nil {
		return err
	}
	return context.Cause(c.r.Context())
}

// spool is a file that nobody else sees.
type spool struct {
	*bufio.Writer
	file *os.File
}

func newSpool(dir string) (*spool, error) {
	file, err := os.CreateTemp(dir, "export-*.tmp")
	if err != nil {
		return nil, spoolError(err)
	}
	// Without a name it is gone with the process, however that ends. Where an open
	// file keeps its name, close removes it.
	_ = os.Remove(file.Name())
	return &spool{bufio.NewWriterSize(file, 256<<10), file}, nil
}

// rewind returns the size of what was written, to be read from its beginning.
func (s *spool) rewind() (int64, error) {
	if err := s.Flush(); err != nil {
		return 0, err
	}
	size, err := s.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	_, err = s.file.Seek(0, io.SeekStart)
	return size, err
}

func (s *spool) close() {
	_ = s.file.Close()
	_ = os.Remove(s.file.Name()) // it has none already, or loses it
}

// spoolError says that the disk is full, if that is what err says.
func spoolError(err error) error {
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	return &shoal.Error{Op: "httpapi.exportSession", Kind: shoal.StorageFull, Msg: "The server's disk has no room for the export.", Err: err}
}

func importSession(c *call) error {
	var o hub.ImportOptions
	var err error
	if o.Replace, err = c.boolParam("replace"); err != nil {
		return err
	}
	if o.PausePlans, err = c.boolParam("pausePlans"); err != nil {
		return err
	}
	made, err := c.Hub.Archive.Import(c.ctx(), c.who, c.session(), &slowBody{c: c}, o)
	return c.answerOr(err, http.StatusCreated, made)
}

// truth returns a parameter that is true or false, false where it is not given.
func (c *call) boolParam(name string) (bool, error) {
	text, given := c.value(name)
	switch {
	case !given || text == "false":
		return false, nil
	case text == "true":
		return true, nil
	}
	return false, shoal.Invalid("query."+name, fmt.Sprintf("is %q and neither true nor false", text))
}

// slowBody is a body that may take any time to arrive, but not without progress.
type slowBody struct{ c *call }

func (u *slowBody) Read(p []byte) (int, error) {
	// An error is that of a broken connection, and reading tells it too.
	_ = http.NewResponseController(u.c.w).SetReadDeadline(time.Now().Add(guard.UploadTime))
	return u.c.r.Body.Read(p)
}
