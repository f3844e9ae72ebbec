package connect

import (
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/connect"
)

// hooks are those that wake the model, in a file of their own. It is nil for clients without hooks.
type hooks struct {
	path    string
	program string
	config  *connect.Config
	record  *connect.Record // of the hooks; nil without one
	found   bool            // whether the file has them
	wanted  bool            // whether they are to be written
	status  string          // what was done; empty before
}

// hooksResult is the part of the output about hooks.
type hooksResult struct {
	File   string `json:"file"`
	Status string `json:"status"`
}

// findHooks finds the file with the hooks of the client, and refuses what --wake cannot do.
func (n *connection) findHooks() (err error) {
	if n.NoApprovals && (!n.Wake || n.Undo) {
		return shoal.E("", cli.KindUsage, "--no-approvals says which hooks --wake writes: `shoal connect claude-code --wake --no-approvals`")
	}
	if !n.client.Wakes() || n.Project {
		switch {
		case !n.Wake:
			return nil
		case n.Project:
			return shoal.E("", cli.KindUsage, "--wake writes into your own settings, for all your projects: leave out --project")
		}
		return shoal.E("", cli.KindUsage, fmt.Sprintf("%s has no hooks that wake its model; `shoal runner` runs coding agents that a mention wakes", n.client.Name))
	}
	if n.Wake && n.PrintKey {
		return shoal.E("", cli.KindUsage, "--wake writes files, and --print-key does not: choose one")
	}
	n.hooks = &hooks{path: n.machine.WakeFile(n.client), wanted: n.Wake && !n.Undo}
	n.hooks.program, err = n.machine.Program()
	return err
}

// load reads the file and the record of the hooks.
func (h *hooks) load(client *connect.Client, records connect.Records, entry string) (err error) {
	if h == nil {
		return nil
	}
	if h.config, err = connect.OpenHooks(client, h.path); err != nil {
		if !h.wanted { // settings that cannot be read concern nobody who does not want hooks
			h.config = nil
			return nil
		}
		return err
	}
	if _, h.found, err = h.config.Entry(entry); err != nil {
		return err
	}
	h.record, err = records.Of(h.path, entry)
	return err
}

func (h *hooks) isThere() bool { return h != nil && h.config != nil && h.found }

func (h *hooks) memory() *connect.Memory {
	if h.record == nil {
		return nil
	}
	return &h.record.Undo
}

// pendingChange returns what will be written: nothing if no hooks are wanted.
func (h *hooks) pendingChange(n *connection) func() (connect.Change, error) {
	return func() (connect.Change, error) {
		if h == nil || !h.wanted {
			return connect.Change{}, nil
		}
		return h.config.With(n.Entry, connect.Target{Program: h.program, WakeOnly: n.NoApprovals}, h.memory())
	}
}

func (h *hooks) removalChange(n *connection) func() (connect.Change, error) {
	return func() (connect.Change, error) { return h.config.Without(n.Entry, h.memory()) }
}

// write writes the hooks, if they are wanted, and records them.
func (h *hooks) write(n *connection) error {
	if h == nil || !h.wanted {
		return nil
	}
	change, err := h.pendingChange(n)()
	if err != nil {
		return err
	}
	h.status = entryUnchanged
	if change.None() {
		return nil
	}
	if err := change.Write(); err != nil {
		return err
	}
	h.status = entryWritten
	return n.records.Keep(connect.Record{
		Client: n.client.ID, Path: h.path, Entry: n.Entry, URL: n.sh.URL, Session: n.sh.Session, Agent: n.agent(), Undo: change.Undo,
	})
}

// forget deletes the record of hooks that were removed.
func (h *hooks) forget(n *connection) error {
	if h == nil {
		return nil
	}
	if h.isThere() {
		h.status = entryRemoved
	}
	return n.records.Forget(h.path, n.Entry)
}

// writeHooks writes the hooks for an entry that needs no change.
func (n *connection) writeHooks() error {
	change, err := n.hooks.pendingChange(n)()
	if err != nil {
		return err
	}
	if n.hooks == nil || !n.hooks.wanted || change.None() {
		n.sh.Output.Note("%s is connected already: nothing to change", n.client.Name)
	} else if err := n.confirm("Write this?", n.hooks.pendingChange(n)); err != nil {
		return err
	}
	if err := n.hooks.write(n); err != nil {
		return err
	}
	if err := n.printResult(n.newResult(entryUnchanged)); err != nil {
		return err
	}
	if n.hooks != nil && n.hooks.status == entryWritten {
		n.noteNext()
	}
	return nil
}

// undoHooks removes the hooks and leaves the entry.
func (n *connection) undoHooks() error {
	if err := n.load(); err != nil {
		return err
	}
	if !n.hooks.isThere() {
		return shoal.E("", shoal.NotFound, fmt.Sprintf("%s has no hooks of the entry %s", n.hooks.path, n.Entry))
	}
	n.found = false // it stays
	if err := n.takeOut(); err != nil {
		return err
	}
	return n.printResult(n.newResult(entryUnchanged))
}

// noteNext prints what to do next.
func (n *connection) noteNext() {
	if n.hooks != nil && n.hooks.wanted {
		first, then := "", "; what it asks before it runs a tool, its owner can answer in Shoal, too"
		switch {
		case n.client.ID == "codex":
			first, then = ", trust the hooks and write a first prompt", ""
		case n.NoApprovals:
			then = "; what it asks before it runs a tool, only the terminal asks"
		}
		n.sh.Output.Note("%s is written, too: restart %s%s, and a mention of %s wakes it (`shoal wake test @%s`)%s", n.hooks.path, n.client.Name, first, n.agent(), n.agent(), then)
		return
	}
	n.sh.Output.Note("restart %s and prompt it: Call wait_for_mentions on %s, and answer every message that mentions you.", n.client.Name, n.Entry)
}
