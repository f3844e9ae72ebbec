package connect

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/connect"
)

// write writes the entry into the client's file.
func (n *connection) write(ctx context.Context) error {
	if err := n.load(); err != nil {
		return err
	}
	if n.found && !n.entry.Leads(n.sh.URL) {
		return shoal.E("", shoal.AlreadyExists, fmt.Sprintf(
			"%s has an entry %s that leads to %s: take it out with --undo, or put this one beside it with --entry NAME", n.path, n.Entry, targetName(n.entry.URL)))
	}
	if !n.Project {
		if _, err := n.machine.Installed(n.client); err != nil {
			return err
		}
	}
	server, err := n.keyClient(ctx)
	if err != nil {
		return err
	}
	if current, err := n.isUpToDate(ctx, server); err != nil {
		return err
	} else if current {
		return n.writeHooks()
	}
	// A key is created only after the user has confirmed the change.
	if err := n.confirm("Write this?", n.pendingChange, n.hooks.pendingChange(n)); err != nil {
		return err
	}
	if err := n.createKey(ctx, server); err != nil {
		return errors.Join(err, n.discardKey(ctx, server))
	}
	change, err := n.change(*n.key.Secret)
	if err == nil {
		err = change.Write()
	}
	if err != nil {
		return errors.Join(err, n.discardKey(ctx, server))
	}
	return n.recordWritten(ctx, server, change)
}

// targetName names the target of an entry for a message.
func targetName(url string) string {
	if url == "" {
		return "a program"
	}
	return url
}

func (n *connection) change(key string) (connect.Change, error) {
	var before *connect.Memory
	if n.record != nil {
		before = &n.record.Undo
	}
	return n.config.With(n.Entry, n.target(key), before)
}

// pendingChange returns the change with a masked key, before the key is created.
func (n *connection) pendingChange() (connect.Change, error) { return n.change(connect.Masked) }

// isUpToDate reports whether the entry and its key need no change.
func (n *connection) isUpToDate(ctx context.Context, server *client.Client) (bool, error) {
	if !n.found || n.storesKey() != (n.entry.Key != "") {
		return false, nil
	}
	if works, err := n.keyWorks(ctx, server); !works || err != nil {
		return false, err
	}
	change, err := n.change(n.entry.Key)
	if err != nil || !change.None() {
		return false, err
	}
	if len(n.Space) > 0 {
		if err := n.addToSpaces(ctx, server); err != nil {
			return false, err
		}
	}
	return true, nil
}

// confirm prints changes and asks whether to make them. It fails without a terminal or --yes.
func (n *connection) confirm(question string, changes ...func() (connect.Change, error)) error {
	path := n.path
	for _, of := range changes {
		change, err := of()
		if err != nil {
			return err
		}
		if change.Path != "" {
			n.sh.Output.PrintDiff(change.Diff(n.entry.Key))
			path = change.Path
		}
	}
	if n.Yes {
		return nil
	}
	nobody := shoal.E("", cli.KindUsage, "nobody can be asked here whether to change "+path+": say --yes")
	in, is := n.sh.In.(*os.File)
	if !is || !cli.IsTerminal(in) || n.sh.Output.JSON || n.sh.Output.Quiet {
		return nobody
	}
	if _, err := fmt.Fprintf(n.sh.Output.Notes, "%s [y/N] ", question); err != nil {
		return err
	}
	said, err := bufio.NewReader(in).ReadString('\n')
	switch said = strings.ToLower(strings.TrimSpace(said)); {
	case said == "y" || said == "yes":
		return nil
	case err != nil && said == "":
		_, _ = fmt.Fprintln(n.sh.Output.Notes) // no line break was typed
		return nobody
	}
	return shoal.E("", cli.KindRefused, "nothing was changed")
}

// discardKey revokes a key that will not be used.
func (n *connection) discardKey(ctx context.Context, server *client.Client) error {
	if n.key == nil {
		return nil
	}
	if err := server.RevokeKey(context.WithoutCancel(ctx), n.key.ID); err != nil {
		n.sh.Output.Note("the key %s was made for nothing, and is still valid: `shoal keys revoke %s`", n.key.ID, n.key.ID)
		return err
	}
	return nil
}

// recordWritten records the entry, revokes the replaced key, and prints the next steps.
func (n *connection) recordWritten(ctx context.Context, server *client.Client, change connect.Change) error {
	record := connect.Record{
		Client: n.client.ID, Path: n.path, Entry: n.Entry, URL: n.sh.URL, Session: n.sh.Session, Agent: n.agent(), KeyID: n.key.ID, Undo: change.Undo,
	}
	if err := n.records.Keep(record); err != nil {
		return err
	}
	if n.record != nil && n.record.KeyID != record.KeyID {
		if err := server.RevokeKey(ctx, n.record.KeyID); err != nil && !errors.Is(err, shoal.NotFound) {
			return err
		}
	}
	if change.Closes() {
		n.sh.Output.Note("%s holds a key now: only you can read it from here on", n.path)
	}
	if err := n.hooks.write(n); err != nil {
		return err
	}
	if err := n.printResult(n.newResult(entryWritten)); err != nil {
		return err
	}
	n.noteKey()
	n.noteNext()
	n.sh.Output.Note("to have it use these tools without asking you: %s", fmt.Sprintf(n.client.Allow, n.Entry))
	return nil
}
