package connect

import (
	"context"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/connect"
)

// defaultURL is the default of --url.
const defaultURL = "http://127.0.0.1:7462"

// undo removes the entry from the client's file and revokes its key.
func (n *connection) undo(ctx context.Context) error {
	if err := n.load(); err != nil {
		return err
	}
	if !n.found && n.record == nil && !n.hooks.isThere() {
		return shoal.E("", shoal.NotFound, fmt.Sprintf("%s has no entry %s", n.path, n.Entry))
	}
	if n.record != nil {
		n.sh.Session = n.record.Session
		if n.sh.URL == defaultURL { // --url does not override the recorded server
			n.sh.URL = n.record.URL
		}
	}
	if err := n.takeOut(); err != nil {
		return err
	}
	if err := n.revokeKey(ctx); err != nil {
		return err
	}
	if err := n.records.Forget(n.path, n.Entry); err != nil {
		return err
	}
	return n.printResult(n.newResult(entryRemoved))
}

// takeOut removes the entry and the hooks from the client's files, after confirmation.
func (n *connection) takeOut() error {
	var changes []func() (connect.Change, error)
	if n.found {
		changes = append(changes, n.removalChange)
	}
	if n.hooks.isThere() {
		changes = append(changes, n.hooks.removalChange(n))
	}
	if len(changes) > 0 {
		if err := n.confirm("Take it out?", changes...); err != nil {
			return err
		}
	}
	for _, of := range changes {
		change, err := of()
		if err == nil {
			err = change.Write()
		}
		if err != nil {
			return err
		}
	}
	return n.hooks.forget(n)
}

func (n *connection) removalChange() (connect.Change, error) {
	var before *connect.Memory
	if n.record != nil {
		before = &n.record.Undo
	}
	return n.config.Without(n.Entry, before)
}

// revokeKey revokes the key of the entry, which is already removed from the file.
func (n *connection) revokeKey(ctx context.Context) error {
	id, err := n.keyID(ctx)
	if err == nil && id != "" {
		var server *client.Client
		if server, err = n.sh.Client(); err == nil {
			err = server.RevokeKey(ctx, id)
		}
	}
	switch {
	case err == nil && id != "":
		n.sh.Output.Note("the key %s is revoked", id)
	case errors.Is(err, shoal.NotFound):
		n.sh.Output.Note("the key %s was revoked before", id)
	case err == nil:
		n.sh.Output.Note("which key it had is not known: `shoal keys ls` shows all")
	default:
		var e *shoal.Error
		why := err.Error()
		if errors.As(err, &e) && e.Msg != "" {
			why = e.Msg
		}
		return &shoal.Error{Kind: shoal.KindOf(err), Msg: fmt.Sprintf("the entry is out of %s, but its key %s is still valid: %s; do it again, or revoke the key yourself", n.path, id, why), Err: err}
	}
	return nil
}

// keyID returns the id of the entry's key from the record, else from the server for the key in
// the entry. It is empty if the id is unknown.
func (n *connection) keyID(ctx context.Context) (shoal.KeyID, error) {
	if n.record != nil {
		return n.record.KeyID, nil
	}
	if n.entry.Key == "" || !n.entry.Leads(n.sh.URL) {
		return "", nil
	}
	holder, err := client.New(n.sh.Options(n.entry.Key))
	if err != nil {
		return "", err
	}
	me, err := holder.Me(ctx)
	if errors.Is(err, shoal.Unauthenticated) {
		return "", nil // revoked, or of another server
	}
	return me.KeyID, err
}
