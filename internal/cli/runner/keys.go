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
	"github.com/shoal-dev/shoal/internal/app"
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
		works, err := k.works(ctx, string(text), id)
		if works || err != nil {
			return string(text), err
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	made, err := k.create(ctx, id)
	if err != nil {
		return "", err
	}
	return made, wholefile.Replace(path, []byte(made))
}

// file names the file of a key by its server, its session and its agent.
func (k keys) file(id shoal.EntityID) string {
	sum := sha256.Sum256([]byte(k.sh.URL + "\n" + string(k.sh.Session)))
	return string(id) + "-" + hex.EncodeToString(sum[:8]) + ".key"
}

func (k keys) works(ctx context.Context, key string, id shoal.EntityID) (bool, error) {
	holder, err := client.New(client.Options{URL: k.sh.URL, Key: key, RetryFor: -1})
	if err != nil {
		return false, err
	}
	me, err := holder.Me(ctx)
	if errors.Is(err, shoal.Unauthenticated) {
		return false, nil
	}
	return err == nil && me.EntityID != nil && *me.EntityID == id, err
}

func (k keys) create(ctx context.Context, id shoal.EntityID) (string, error) {
	session, err := k.sh.ConnectAsManager()
	if err != nil {
		return "", err
	}
	if err := k.createAgent(ctx, session, id); err != nil {
		return "", err
	}
	server, err := k.sh.Client()
	if err != nil {
		return "", err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "a machine"
	}
	made, err := server.CreateKey(ctx, shoal.NewKey{Role: shoal.RoleEntity, SessionID: k.sh.Session, EntityID: id, Name: "runner on " + host})
	if err != nil {
		return "", err
	}
	if made.Secret == nil {
		return "", shoal.E("", shoal.Internal, fmt.Sprintf("the key %s was made, but its secret was lost on the way: revoke it and try again", made.ID))
	}
	return *made.Secret, k.addToSpaces(ctx, session, id)
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

// addToSpaces adds a new agent to the named spaces, or to welcome if none is named.
func (k keys) addToSpaces(ctx context.Context, session *client.Session, id shoal.EntityID) error {
	spaces := k.spaces
	if len(spaces) == 0 {
		welcome, err := session.Space(ctx, app.Welcome)
		if errors.Is(err, shoal.NotFound) || err == nil && welcome.Status != shoal.SpaceStatusOpen {
			k.sh.Output.Note("%s is in no space yet: `shoal spaces add SPACE %s`", id, id)
			return nil
		}
		if err != nil {
			return err
		}
		spaces = []shoal.SpaceID{welcome.ID}
	}
	for _, space := range spaces {
		if _, err := session.AddMember(ctx, space, id); err != nil {
			return err
		}
		k.sh.Output.Note("%s is in %s", id, space)
	}
	return nil
}
