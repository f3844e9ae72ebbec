// Package connect has the commands that connect MCP clients such as Claude Code to a server.
package connect

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/connect"
)

// Command is shoal connect.
type Command struct {
	Client      string          `arg:"" optional:"" help:"claude-code, codex, cursor, vscode or gemini-cli. Without one, the clients on this machine are listed."`
	Write       bool            `help:"Write the entry into the client's configuration, after showing the changes." xor:"do"`
	PrintKey    bool            `help:"Create a key for the agent and print the entry with it." xor:"do"`
	Undo        bool            `help:"Remove the entry and revoke its key." xor:"do"`
	Yes         bool            `help:"Do not ask for confirmation." short:"y"`
	Agent       shoal.EntityID  `help:"The agent that the client acts as; created if new (default: claude, codex, cursor, vscode or gemini)." placeholder:"ID"`
	Name        string          `help:"The display name of the agent (default for a new agent: the client's name)." placeholder:"NAME"`
	Space       []shoal.SpaceID `help:"Add the agent to these spaces (default: welcome, if there is one)." placeholder:"ID"`
	Project     bool            `help:"Use the configuration of the project in this directory instead of the user's. No key is written into it."`
	Env         bool            `help:"Write no key; the client reads it from an environment variable."`
	Wake        bool            `help:"Also write hooks that wake the model in your terminal when somebody mentions the agent: Claude Code, Codex. With --undo, remove only these."`
	NoApprovals bool            `help:"With --wake: do not ask in Shoal what Claude Code asks you in the terminal."`
	Entry       string          `help:"The name of the server in the client's configuration." default:"shoal" placeholder:"NAME"`
}

// connection is one entry in the file of one client.
type connection struct {
	*Command
	sh      *cli.Shell
	client  *connect.Client
	machine connect.Machine
	path    string
	config  *connect.Config
	records connect.Records
	record  *connect.Record // the record of the entry; nil without one
	found   bool            // whether the file has the entry
	entry   connect.Entry
	key     *shoal.Key // the created key with its secret; nil before
	hooks   *hooks
}

// result is the output of the command.
type result struct {
	Client  string          `json:"client"`
	Agent   shoal.EntityID  `json:"agent"`
	Session shoal.SessionID `json:"session"`
	File    string          `json:"file"`
	Entry   string          `json:"entry"`
	Status  string          `json:"status"`
	KeyID   *shoal.KeyID    `json:"keyId"`
	Key     *string         `json:"key"`
	Text    *string         `json:"text"`
	Diff    string          `json:"diff"`
	// Hooks are what was done about the hooks that wake the model; nil without any.
	Hooks *hooksResult `json:"hooks"`
}

// Values of the status of an entry.
const (
	entryPrinted   = "printed"
	entryWritten   = "written"
	entryUnchanged = "unchanged"
	entryRemoved   = "removed"
)

// Run prints, writes or removes the entry of a client.
func (c *Command) Run(ctx context.Context, sh *cli.Shell) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	machine, err := connect.Here(dir)
	if err != nil {
		return err
	}
	if c.Client == "" {
		return c.list(sh, machine)
	}
	if c.Entry == "" || strings.Trim(c.Entry, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		return shoal.E("", cli.KindUsage, "--entry takes letters, digits, - and _ only: clients make names of tools of it")
	}
	client, err := connect.ClientOf(c.Client)
	if err != nil {
		return err
	}
	n := &connection{Command: c, sh: sh, client: client, machine: machine, path: machine.File(client, c.scope()), records: machine.Records()}
	sh.URL = strings.TrimRight(sh.URL, "/")
	if err := n.findHooks(); err != nil {
		return err
	}
	switch {
	case c.Undo && c.Wake:
		return n.undoHooks()
	case c.Undo:
		return n.undo(ctx)
	case c.Write, c.Wake:
		return n.write(ctx)
	}
	return n.printEntry(ctx)
}

func (c *Command) scope() connect.Scope {
	if c.Project {
		return connect.Project
	}
	return connect.User
}

// list prints the clients, their configuration files, and where an existing entry leads.
func (c *Command) list(sh *cli.Shell, machine connect.Machine) error {
	if c.Write || c.Undo {
		return shoal.E("", cli.KindUsage, "name the client: claude-code, codex, cursor, vscode or gemini-cli")
	}
	type row struct {
		Client    string  `json:"client"`
		Installed *string `json:"installed"`
		File      string  `json:"file"`
		URL       *string `json:"url"`
	}
	all := cli.List[row]{Items: []row{}}
	var rows [][]string
	for _, client := range connect.Clients {
		r := row{Client: client.ID, File: machine.File(client, c.scope())}
		if at, err := machine.Installed(client); err == nil {
			r.Installed = &at
		}
		leads := "-"
		config, err := connect.Open(client, r.File)
		if err == nil {
			var entry connect.Entry
			var found bool
			if entry, found, err = config.Entry(c.Entry); found {
				r.URL, leads = &entry.URL, entry.URL
			}
		}
		if err != nil {
			sh.Output.Note("%s", cli.ErrorText(err))
		}
		all.Items = append(all.Items, r)
		rows = append(rows, []string{r.Client, cli.IDOrDash(r.Installed), r.File, leads})
	}
	return sh.Output.PrintTable(all, []string{"CLIENT", "FOUND", "FILE", strings.ToUpper(c.Entry) + " LEADS TO"}, rows...)
}

// load reads the client's file and the record of the entry.
func (n *connection) load() (err error) {
	if n.config, err = connect.Open(n.client, n.path); err != nil {
		return err
	}
	if n.entry, n.found, err = n.config.Entry(n.Entry); err != nil {
		return err
	}
	if n.record, err = n.records.Of(n.path, n.Entry); err != nil {
		return err
	}
	return n.hooks.load(n.client, n.records, n.Entry)
}

// keyPlaceholder replaces the key in a printed entry.
const keyPlaceholder = "YOUR_KEY"

// printEntry prints the entry for use by hand. It creates nothing on the server without
// --print-key.
func (n *connection) printEntry(ctx context.Context) error {
	secret := keyPlaceholder
	if n.PrintKey {
		server, err := n.keyClient(ctx)
		if err != nil {
			return err
		}
		if err := n.createKey(ctx, server); err != nil {
			return errors.Join(err, n.discardKey(ctx, server))
		}
		secret = *n.key.Secret
	}
	text, err := n.client.Text(n.Entry, n.target(secret))
	if err != nil {
		return err
	}
	out := n.newResult(entryPrinted)
	out.Text = &text
	if n.sh.Output.JSON {
		return n.sh.Output.PrintObject(out)
	}
	if err := n.sh.Output.PrintText(text); err != nil {
		return err
	}
	n.sh.Output.Note("this belongs into %s; --write puts it there", n.path)
	if n.key == nil {
		n.sh.Output.Note("nothing was created: --write also creates %s and its key, --print-key creates them and prints the key", n.agent())
		if command := n.client.SignInCommand(n.Entry, n.sh.URL); command != "" {
			n.sh.Output.Note("without a key, %s signs in, and you choose its rights in the browser: %s", n.client.Name, command)
		}
		return nil
	}
	n.noteKey()
	n.sh.Output.Note("`shoal keys revoke %s` makes the key useless", n.key.ID)
	return nil
}

// storesKey reports whether the key is written into the file. A file that others receive, such
// as that of a project, gets none.
func (n *connection) storesKey() bool {
	return !n.Project && !n.Env && n.client.Holds() && !connect.Shared(n.path)
}

func (n *connection) target(key string) connect.Target {
	t := connect.Target{URL: n.sh.URL, Agent: n.agent()}
	if n.storesKey() {
		t.Key = key
	}
	return t
}

// agent returns the agent that the client acts as.
func (n *connection) agent() shoal.EntityID {
	switch {
	case n.Agent != "":
		return n.Agent
	case n.record != nil:
		return n.record.Agent
	}
	return n.client.Agent
}

// newResult returns the output of the command with a status.
func (n *connection) newResult(status string) result {
	out := result{Client: n.client.ID, Agent: n.agent(), Session: n.sh.Session, File: n.path, Entry: n.Entry, Status: status}
	if n.hooks != nil && n.hooks.status != "" {
		out.Hooks = &hooksResult{File: n.hooks.path, Status: n.hooks.status}
	}
	if n.record != nil {
		out.KeyID = &n.record.KeyID
	}
	if n.key != nil {
		out.KeyID = &n.key.ID
		if !n.storesKey() {
			out.Key = n.key.Secret
		}
	}
	return out
}

// printResult prints the output of the command.
func (n *connection) printResult(out result) error {
	row := []string{out.Client, string(out.Agent), filepath.ToSlash(out.File), out.Status, cli.IDOrDash(out.KeyID)}
	return n.sh.Output.PrintTable(out, []string{"CLIENT", "AGENT", "FILE", "STATUS", "KEY"}, row)
}
