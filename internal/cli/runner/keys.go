package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/wholefile"
)

// keys keeps a key for each agent on this machine. It is the only one that a coding agent and its
// runner use: it can do what the agent can, and nothing else.
type keys struct {
	sh     *cli.Shell
	dir    string
	name   string // of a new agent
	spaces []shoal.SpaceID
}

// of returns the key of an agent: the one of an earlier time if it still works, else a new one. For
// that the caller of the command has to manage the session; the agent is created if it is new.
func (k keys) of(ctx context.Context, id shoal.EntityID) (secret string, err error) {
	path := filepath.Join(k.dir, k.file(id))
	text, err := os.ReadFile(path)
	if err == nil {
		works, err := k.sh.IsKeyOf(ctx, string(text), id)
		if works || err != nil {
			return string(text), err
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return k.create(ctx, id, path)
}

// file names the file of a key by its server, its session and its agent.
func (k keys) file(id shoal.EntityID) string {
	sum := sha256.Sum256([]byte(k.sh.URL + "\n" + string(k.sh.Session)))
	return string(id) + "-" + hex.EncodeToString(sum[:8]) + ".key"
}

// create creates a key of an agent that is in its spaces, and keeps it in a file. A key that cannot be
// kept is revoked.
func (k keys) create(ctx context.Context, id shoal.EntityID, path string) (string, error) {
	session, err := k.sh.ConnectAsManager()
	if err != nil {
		return "", err
	}
	if err := k.createAgent(ctx, session, id); err != nil {
		return "", err
	}
	// The key comes last: everything else may fail and be repeated, and a key whose secret is lost is
	// valid for ever.
	if err := k.sh.AddAgentToSpaces(ctx, session, id, k.spaces); err != nil {
		return "", err
	}
	server, err := k.sh.Client()
	if err != nil {
		return "", err
	}
	made, err := k.sh.CreateAgentKey(ctx, server, id, "runner")
	if err != nil {
		return "", err
	}
	if err := wholefile.Replace(path, []byte(*made.Secret)); err != nil {
		return "", errors.Join(err, server.RevokeKey(ctx, made.ID))
	}
	return *made.Secret, nil
}

// createAgent creates the agent if it is new, as one whose runs a program executes.
func (k keys) createAgent(ctx context.Context, session *client.Session, id shoal.EntityID) error {
	known, err := session.Agent(ctx, id, 0)
	if err == nil {
		var config struct {
			Remote *struct{} `json:"remote"`
		}
		if json.Unmarshal(known.Config, &config) == nil && config.Remote != nil {
			return nil
		}
		return shoal.E("", shoal.Conflict, fmt.Sprintf("the server itself runs the agent %q; choose another name with --agent", id))
	}
	if !errors.Is(err, shoal.NotFound) {
		return err
	}
	name := k.name
	if name == "" {
		name = string(id)
	}
	config, err := json.Marshal(map[string]any{
		"version": "1.0", "agent": map[string]any{"id": id, "name": name, "description": "A coding agent on somebody's machine."}, "remote": map[string]any{},
	})
	if err != nil {
		return err
	}
	_, err = session.PutAgent(ctx, id, client.ConfigJSON, config)
	return err
}
