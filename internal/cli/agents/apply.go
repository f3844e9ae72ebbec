package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/yamltext"
)

type agentsApplyCmd struct {
	File []string `help:"A configuration in JSON or YAML, a directory of them, or - for standard input. May be repeated." short:"f" required:"" sep:"none" placeholder:"FILE|DIR"`
}

// configFile is one configuration to apply. id is empty if neither the text nor the file name
// names the agent.
type configFile struct {
	name   string
	id     shoal.EntityID
	format client.ConfigFormat
	text   []byte

	document yaml.Node
	broken   *yamltext.Error // why the text cannot be parsed
}

// applyResult is the outcome of applying one file.
type applyResult struct {
	File    string         `json:"file"`
	ID      shoal.EntityID `json:"id"`
	Outcome string         `json:"outcome"` // created, updated, unchanged or refused
	Version int            `json:"version"` // 0 if it was refused
	Message string         `json:"message,omitempty"`
	Errors  []configError  `json:"errors,omitempty"`
}

// configError is one error in a file. Line and Column count from 1, and are 0 if the position
// is unknown.
type configError struct {
	shoal.FieldError
	Line   int `json:"line"`
	Column int `json:"column"`
}

// text returns the error in the format of compilers: file:line:column: message.
func (e configError) text(file string) string {
	if e.Line > 0 {
		file = fmt.Sprintf("%s:%d:%d", file, e.Line, e.Column)
	}
	return file + ": " + e.Location + " " + e.Message
}

// Run applies every file, and fails if the server refused one of them.
func (c *agentsApplyCmd) Run(ctx context.Context, sh *cli.Shell) error {
	files, err := c.files(sh.In)
	if err != nil {
		return err
	}
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	var rows [][]string
	owner := map[shoal.EntityID]string{} // the file of each agent
	refused := 0
	for _, f := range files {
		done, err := f.apply(ctx, session, owner)
		if err != nil {
			return err
		}
		if done.Outcome == "refused" {
			refused++
		} else {
			rows = append(rows, []string{string(done.ID), done.Outcome, strconv.Itoa(done.Version), done.File})
		}
		if err := printApplied(sh.Output, done); err != nil {
			return err
		}
	}
	if !sh.Output.JSON && len(rows) > 0 {
		if err := sh.Output.PrintTable(nil, []string{"ID", "OUTCOME", "VERSION", "FILE"}, rows...); err != nil {
			return err
		}
	}
	if refused > 0 {
		return shoal.E("", cli.KindNotApplied, fmt.Sprintf("%d of %d files were not applied", refused, len(files)))
	}
	return nil
}

// files reads the named files, and the files of named directories in the order of their names.
func (c *agentsApplyCmd) files(in io.Reader) (all []configFile, err error) {
	for _, name := range c.File {
		if name == "-" {
			text, err := io.ReadAll(in)
			if err != nil {
				return nil, fmt.Errorf("standard input: %w", err)
			}
			all = append(all, newConfigFile("-", text))
			continue
		}
		names := []string{name}
		if info, err := os.Stat(name); err != nil {
			return nil, err
		} else if info.IsDir() {
			if names, err = configsIn(name); err != nil {
				return nil, err
			}
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			all = append(all, newConfigFile(name, text))
		}
	}
	return all, nil
}

// configsIn returns the paths of the configurations in a directory, in the order of names.
func configsIn(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.IsDir() && slices.Contains([]string{".json", ".yaml", ".yml"}, strings.ToLower(filepath.Ext(e.Name()))) {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	if len(names) == 0 {
		return nil, shoal.E("", cli.KindUsage, fmt.Sprintf("directory %s contains no *.json, *.yaml or *.yml file", dir))
	}
	return names, nil
}

// newConfigFile determines the format and the agent of a configuration: the agent that the
// text names, else the one that the file is named after. The server validates the rest.
func newConfigFile(name string, text []byte) configFile {
	f := configFile{name: name, text: text, format: client.ConfigYAML}
	extension := filepath.Ext(name)
	if strings.EqualFold(extension, ".json") || extension == "" && bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		f.format = client.ConfigJSON
	}
	if name != "-" {
		f.id = shoal.EntityID(strings.TrimSuffix(filepath.Base(name), extension))
	}
	var config struct {
		Agent struct {
			ID shoal.EntityID `yaml:"id" json:"id"`
		} `yaml:"agent" json:"agent"`
	}
	document, err := yamltext.Read(text)
	switch {
	case err == nil:
		f.document, err = document, document.Decode(&config)
	case json.Valid(text): // JSON that is not valid YAML has no positions
		err = json.Unmarshal(text, &config)
	default:
		errors.As(err, &f.broken)
	}
	if err == nil && config.Agent.ID != "" {
		f.id = config.Agent.ID
	}
	return f
}

// syntaxErrors returns why the text cannot be parsed.
func (f configFile) syntaxErrors() (errs []configError) {
	if f.broken == nil {
		return nil
	}
	return []configError{{
		FieldError: shoal.FieldError{Location: "config", Message: "is neither JSON nor YAML: " + f.broken.Reason},
		Line:       f.broken.Line, Column: f.broken.Column,
	}}
}

// withPositions adds positions in the file to the errors of a server.
func (f configFile) withPositions(fields []shoal.FieldError) (all []configError) {
	for _, e := range fields {
		e.Location = strings.TrimPrefix(e.Location, "body.")
		var at yamltext.Position
		if !f.document.IsZero() {
			at = yamltext.Find(&f.document, e.Location)
		}
		all = append(all, configError{FieldError: e, Line: at.Line, Column: at.Column})
	}
	return all
}

// locateError adds positions in the file to an error about fields of the configuration.
func (f configFile) locateError(err error) error {
	var e *shoal.Error
	if f.text == nil || !errors.As(err, &e) || len(e.Fields) == 0 {
		return err
	}
	var lines []string
	for _, one := range f.withPositions(e.Fields) {
		lines = append(lines, one.text(f.name))
	}
	return &shoal.Error{Kind: e.Kind, Msg: strings.Join(lines, "; "), Err: err, RequestID: e.RequestID}
}

// apply sends the configuration to the server. It returns an error only if the other files
// would fail as well, such as when the server is unreachable.
func (f configFile) apply(ctx context.Context, session *client.Session, owner map[shoal.EntityID]string) (applyResult, error) {
	done := applyResult{File: f.name, ID: f.id, Outcome: "refused"}
	if done.Errors = f.syntaxErrors(); done.Errors != nil {
		done.Message = "The configuration cannot be read."
		return done, nil
	}
	if f.id == "" {
		done.Message = "the configuration names no agent; add agent: {id: …}"
		return done, nil
	}
	if other, taken := owner[f.id]; taken {
		done.Message = fmt.Sprintf("%s already configures %s", other, f.id)
		return done, nil
	}
	owner[f.id] = f.name
	before, err := session.Agent(ctx, f.id, 0)
	if err == nil || errors.Is(err, shoal.NotFound) {
		var now shoal.HostedAgent
		if now, err = session.PutAgent(ctx, f.id, f.format, f.text); err == nil {
			done.Version, done.Outcome = now.Version, outcomeOf(before.Version, now.Version)
			return done, nil
		}
	}
	var e *shoal.Error
	if !errors.As(err, &e) || !slices.Contains([]shoal.Kind{
		shoal.InvalidArgument, shoal.InvalidJSON, shoal.TooLarge, shoal.Conflict, shoal.AlreadyExists, shoal.AdminRequired,
	}, e.Kind) {
		return done, err
	}
	done.Message = e.Msg
	if e.Kind != shoal.InvalidJSON { // its fields are not of the configuration
		done.Errors = f.withPositions(e.Fields)
	}
	return done, nil
}

// outcomeOf returns what changed a version from before to now; 0 means no version.
func outcomeOf(before, now int) string {
	switch before {
	case 0:
		return "created"
	case now:
		return "unchanged"
	}
	return "updated"
}

// printApplied reports the errors of a refused file at once. With --json it prints every result.
func printApplied(o *cli.Output, done applyResult) error {
	if o.JSON {
		return o.PrintObject(done)
	}
	if done.Outcome != "refused" {
		return nil
	}
	if len(done.Errors) == 0 {
		o.ReportFailure(cli.Failure{Message: done.File + ": " + done.Message})
	}
	for _, e := range done.Errors {
		o.ReportFailure(cli.Failure{Message: e.text(done.File)})
	}
	return nil
}
