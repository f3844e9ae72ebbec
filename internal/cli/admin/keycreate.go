package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/safetext"
)

type keysCreateCmd struct {
	Role     shoal.Role       `help:"What the key allows: admin everything, service one session, entity acting as one entity." enum:"admin,service,entity" default:"entity"`
	Entity   shoal.EntityID   `help:"The entity that an entity key acts as; created if new." placeholder:"ID"`
	Kind     shoal.EntityKind `help:"The kind of a new entity: agent (the default) or human." placeholder:"KIND"`
	Door     shoal.Door       `help:"What the key is for: a front end (agui, openai, ai-sdk) or an invited person (invite). A new entity is then a human." placeholder:"DOOR"`
	Name     string           `help:"What the key is for." placeholder:"NAME"`
	Expires  string           `help:"When the key expires: 90m, 30d or a time such as 2027-01-31T00:00:00Z." placeholder:"WHEN"`
	Renew    string           `help:"Let the key end this long after its last use, such as 90d; without --expires also this long after now." placeholder:"DURATION"`
	Scope    []string         `help:"Limit the key: read, post, answer, run, spaces:ID or tools:NAME; repeat it for several." sep:"none" placeholder:"SCOPE"`
	Join     []shoal.SpaceID  `help:"Add the entity to these spaces." placeholder:"SPACE"`
	Database string           `help:"The database of --data, when no server runs on it." placeholder:"URL"`
}

// Run creates a key, prints it, and adds its entity to the spaces.
func (c *keysCreateCmd) Run(ctx context.Context, sh *cli.Shell) error {
	n, err := c.newKey(sh.Session, time.Now())
	if err != nil {
		return err
	}
	made, err := c.create(ctx, sh, n)
	if err != nil {
		return err
	}
	if made.Secret == nil {
		return shoal.E("", shoal.Internal, fmt.Sprintf("the key %s was made, but its secret was lost on the way: revoke it and make another", made.ID))
	}
	if err := printKey(sh.Output, made); err != nil {
		return err
	}
	return c.joinSpaces(ctx, sh)
}

// newKey returns the key to create.
func (c *keysCreateCmd) newKey(session shoal.SessionID, now time.Time) (shoal.NewKey, error) {
	n := shoal.NewKey{Role: c.Role, EntityID: c.Entity, Kind: c.Kind, Door: c.Door, Name: c.Name, Scopes: c.Scope}
	switch {
	case c.Role == shoal.RoleEntity && c.Entity == "":
		return n, shoal.E("", cli.KindUsage, "an entity key needs --entity ID; other keys need --role admin or --role service")
	case c.Role != shoal.RoleEntity && len(c.Join) > 0:
		return n, shoal.E("", cli.KindUsage, "--join is for entity keys: a key of role "+string(c.Role)+" is in no space")
	case c.Role != shoal.RoleAdmin:
		n.SessionID = session
	}
	if c.Expires != "" {
		at, err := cli.ParseTime("--expires", c.Expires, now, 1)
		if err != nil {
			return n, err
		}
		n.ExpiresAt = &at
	}
	if c.Renew != "" {
		ms, err := millisUntil("--renew", c.Renew, now)
		if err != nil {
			return n, err
		}
		n.RenewForMs = ms
	}
	return n, n.Validate()
}

// create creates the key on the server. If --data is set and no server runs on that directory,
// it creates the key in the database.
func (c *keysCreateCmd) create(ctx context.Context, sh *cli.Shell, n shoal.NewKey) (shoal.Key, error) {
	server, err := sh.Client()
	if err != nil {
		return shoal.Key{}, err
	}
	made, err := server.CreateKey(ctx, n)
	elsewhere := errors.Is(err, client.ErrUnreachable) || errors.Is(err, shoal.Unauthenticated)
	if !elsewhere || sh.Data == "" || sh.Key != "" {
		return made, err
	}
	if !sh.Admin && (n.Role == shoal.RoleAdmin || n.SessionID != shoal.DefaultSession) {
		return made, shoal.E("", cli.KindUsage, "no server answers, and in the database itself only an admin creates this key: add --admin")
	}
	dir, err := sh.DataDir()
	if err != nil {
		return made, err
	}
	made, err = app.CreateKey(ctx, dir, c.Database, n)
	if err == nil {
		sh.Output.Note("no server runs on %s at %s: made in the database itself", dir, sh.URL)
	}
	return made, err
}

// printKey prints a new key with its secret.
func printKey(o *cli.Output, k shoal.Key) error {
	if o.Quiet && !o.JSON {
		return o.Write(safetext.Line(*k.Secret) + "\n")
	}
	if err := o.PrintTable(k, append([]string{"KEY"}, keyHead...), append([]string{*k.Secret}, keyRow(o, k)...)); err != nil {
		return err
	}
	o.Note("the key is shown this once")
	return nil
}

// joinSpaces adds the key's entity to spaces.
func (c *keysCreateCmd) joinSpaces(ctx context.Context, sh *cli.Shell) error {
	if len(c.Join) == 0 {
		return nil
	}
	server, err := sh.Client()
	if err != nil {
		return err
	}
	for _, space := range c.Join {
		if _, err := server.Session(sh.Session).AddMember(ctx, space, c.Entity); err != nil {
			var e *shoal.Error
			if errors.As(err, &e) {
				return &shoal.Error{Kind: e.Kind, Msg: fmt.Sprintf("the key was made, but %s did not join %s: %s", c.Entity, space, e.Msg), Err: err}
			}
			return err
		}
		sh.Output.Note("%s is in %s", c.Entity, space)
	}
	return nil
}
