package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/calendar"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// The spaces that the first start creates, both with the operator and ShopAgent.
const (
	Welcome   shoal.SpaceID = "welcome"
	Approvals shoal.SpaceID = "approvals"
)

// KeyFile is the name of the file in a data directory that holds the admin key.
const KeyFile = "admin.key"

// local is the principal of whoever owns the data directory.
var local = shoal.Principal{Role: shoal.RoleAdmin, KeyID: "local"}

// first makes sure of what every server has: the admin key in the data
// directory, and on the very first start the operator, an agent that answers, and
// the spaces where they meet. What somebody deletes is not made again.
func (s *Server) first(ctx context.Context) error {
	if err := adminKey(ctx, s.Hub, s.config.Data); err != nil {
		return err
	}
	_, err := s.Hub.Entities.Get(ctx, local, shoal.DefaultSession, shoal.Operator)
	if err == nil {
		return s.followKeys(ctx)
	}
	if !errors.Is(err, shoal.NotFound) {
		return err
	}
	_, err = s.Hub.Entities.Create(ctx, local, shoal.DefaultSession, shoal.NewEntity{
		ID: shoal.Operator, Kind: shoal.Human, SessionRole: shoal.SessionOwner, Name: "Operator", Description: "whoever runs this server",
	}, "")
	if errors.Is(err, shoal.AlreadyExists) {
		return s.followKeys(ctx) // an operator who was deleted is not made again
	}
	if err != nil {
		return err
	}
	operator, agent := local, ShopAgent
	operator.EntityID = shoal.Operator
	if err := s.host(ctx, present(s.config.Keys)); err != nil {
		return err
	}
	for _, space := range []shoal.NewSpace{{ID: Welcome, Name: "Welcome"}, {ID: Approvals, Name: "Approvals"}} {
		space.Members, space.AdminAgentID = []shoal.EntityID{agent}, &agent
		if _, err := s.Hub.Spaces.Create(ctx, operator, shoal.DefaultSession, space, ""); err != nil {
			return err
		}
	}
	return nil
}

// adminKey makes sure that the key in the data directory works, and that there
// is one.
func adminKey(ctx context.Context, h *hub.Hub, data string) error {
	path := filepath.Join(data, KeyFile)
	raw, err := os.ReadFile(path)
	secret := strings.TrimSpace(string(raw))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		secret = auth.NewSecret()
		err = writeKey(path, secret)
	case err == nil && len(secret) < sha256.Size:
		err = errors.New("it holds no key; delete it to get a new one")
	}
	if err != nil {
		return shoal.E("app.adminKey", shoal.InvalidArgument, fmt.Sprintf("The file %s cannot be used: %v.", path, err))
	}
	return h.Keys.Adopt(ctx, "data directory", auth.Hash(secret))
}

// writeKey makes the key file. After a power cut it is there with the key in it, or
// not at all: half a file would keep the server from starting.
func writeKey(path, secret string) error {
	made, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = made.WriteString(secret + "\n")
	if err = errors.Join(err, made.Sync(), made.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// ReadAdminKey returns the admin key of a data directory, or an error of kind
// NotFound when there is none that the caller may read.
func ReadAdminKey(data string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(data, KeyFile))
	if err != nil {
		return "", &shoal.Error{Op: "app.ReadAdminKey", Kind: shoal.NotFound, Msg: fmt.Sprintf("There is no readable admin key in %s.", data), Err: err}
	}
	return strings.TrimSpace(string(raw)), nil
}

// MintKey makes a key without a running server, by opening the database of a
// data directory. It works beside a running one, too.
func MintKey(ctx context.Context, data, database string, n shoal.NewKey) (shoal.Key, error) {
	c, err := Config{Data: data, Database: database}.complete()
	if err != nil {
		return shoal.Key{}, err
	}
	if _, err := os.Stat(data); err != nil {
		return shoal.Key{}, &shoal.Error{Op: "app.MintKey", Kind: shoal.NotFound, Msg: fmt.Sprintf("There is no data directory %s.", data), Err: err}
	}
	store, err := sqlstore.Open(ctx, sqlstore.Options{URL: c.Database, Fatal: func(error) {}})
	if err != nil {
		return shoal.Key{}, fmt.Errorf("open the database: %w", err)
	}
	h := hub.New(hub.Options{Store: store, Bus: localbus.New(), NextTime: calendar.NextTime})
	defer func() { _ = store.Close() }() // the key is durable or Mint has failed
	defer h.Stop()
	if err := h.Start(ctx); err != nil {
		return shoal.Key{}, err
	}
	return auth.New(h, auth.Options{}).Mint(ctx, local, n, "")
}
