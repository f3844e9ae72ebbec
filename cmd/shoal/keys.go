package main

import (
	"context"

	"github.com/shoal-dev/shoal"
)

type keysCmd struct {
	List   keysListCmd   `cmd:"" name:"ls" help:"List all keys, without their secrets."`
	Create keysCreateCmd `cmd:"" help:"Create a key; its secret is shown this once. With --data, it works without a server, too."`
	Revoke keysRevokeCmd `cmd:"" help:"Make keys stop working at once."`
}

var keyHead = []string{"ID", "ROLE", "SESSION", "ENTITY", "NAME", "EXPIRES", "USED"}

func keyRow(k shoal.Key) []string {
	return []string{string(k.ID), string(k.Role), idOr(k.SessionID), idOr(k.EntityID), k.Name, timeOr(k.ExpiresAt, "never"), timeOr(k.LastUsedAt, "never")}
}

type keysListCmd struct{}

// Run lists the keys.
func (*keysListCmd) Run(ctx context.Context, sh *shell) error {
	c, err := sh.admin()
	if err != nil {
		return err
	}
	all, err := collect(c.Keys(ctx))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, k := range all.Items {
		rows = append(rows, keyRow(k))
	}
	return sh.output.table(all, keyHead, rows...)
}

type keysRevokeCmd struct {
	ID []shoal.KeyID `arg:"" help:"The keys' ids, as keys ls shows them."`
}

// Run revokes keys, one after the other.
func (c *keysRevokeCmd) Run(ctx context.Context, sh *shell) error {
	admin, err := sh.admin()
	if err != nil {
		return err
	}
	for _, id := range c.ID {
		if err := admin.RevokeKey(ctx, id); err != nil {
			return err
		}
		sh.output.note("%s is revoked", id)
	}
	return nil
}
