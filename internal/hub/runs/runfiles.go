package runs

import (
	"errors"
	"regexp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
)

// AddFile stores a file that the run created, as if its agent had uploaded it, and returns
// it with its id, size and URL. Once a part of a message that names the file is complete,
// the message's space shows the file. It fails with TooLarge above [shoal.MaxFile] bytes
// and with Conflict when the agent's quota is used up.
func (c *RunChange) AddFile(f shoal.File, data []byte) (shoal.File, error) {
	f.ID, f.Size = shoal.NewID[shoal.FileID](shoal.PrefixFile), int64(len(data))
	f.URL = shoal.FilePath(c.Run.SessionID, f.ID)
	if err := f.Validate(); err != nil {
		return f, err
	}
	agent := shoal.Principal{Role: shoal.RoleEntity, SessionID: c.Run.SessionID, EntityID: c.Run.AgentID}
	if err := c.Core.CheckFileQuota(c.Change, c.Run.SessionID, agent, f.Size); err != nil {
		return f, err
	}
	return f, c.InsertFile(c.Run.SessionID, f, c.Run.AgentID, c.At, data)
}

// filePathPattern matches the path of a file of this server in a text or a JSON value.
var filePathPattern = regexp.MustCompile(`/v1/sessions/([A-Za-z0-9_.-]{1,64})/files/(` + shoal.PrefixFile + `[0-9a-z]{1,60})`)

// maxFilesPerPart is how many files of one text of a part are shown.
const maxFilesPerPart = 32

// showRunFiles records that the space of a composite message shows the files of its agent
// that the message's parts name in texts, arguments or results. It checks only parts whose
// status has changed since before. It never shows files of others: the output of a model or
// a tool gives nobody a right.
func showRunFiles(c *RunChange, before []shoal.Part, m shoal.Message) error {
	known := make(map[shoal.PartID]shoal.PartStatus, len(before))
	for _, p := range before {
		known[p.ID] = p.Status
	}
	for _, p := range m.Parts {
		if was, there := known[p.ID]; there && was == p.Status || p.Status == shoal.PartStreaming || p.Status == shoal.PartInputStreaming {
			continue
		}
		for _, text := range [][]byte{[]byte(p.Text), p.Args, p.Result} {
			for _, at := range filePathPattern.FindAllSubmatch(text, maxFilesPerPart) {
				if err := showAgentFile(c, shoal.SessionID(at[1]), shoal.FileID(at[2]), m.SpaceID); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// showAgentFile records that a space shows a file, if it belongs to the run's agent.
func showAgentFile(c *RunChange, session shoal.SessionID, id shoal.FileID, space shoal.SpaceID) error {
	if session != c.Run.SessionID || !core.ValidID(id) {
		return nil
	}
	_, by, err := c.FileHead(session, id)
	switch {
	case errors.Is(err, shoal.NotFound) || err == nil && by != c.Run.AgentID:
		return nil
	case err != nil:
		return err
	}
	return c.ShowFile(session, id, space)
}
