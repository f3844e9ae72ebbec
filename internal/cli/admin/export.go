package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
)

// ExportCommand is shoal export.
type ExportCommand struct {
	ID     *shoal.SessionID `arg:"" optional:"" name:"session" help:"The session (default: that of --session)."`
	Output string           `help:"The file to write; - is standard output." short:"o" default:"-" placeholder:"FILE"`
}

// Run writes a session as JSON lines. It creates the file only when the export is complete.
func (c *ExportCommand) Run(ctx context.Context, sh *cli.Shell) (err error) {
	if c.ID != nil {
		sh.Session = *c.ID
	}
	s, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	if c.Output == "-" {
		if out, ok := sh.Output.Out.(*os.File); ok && openToOthers(out) {
			sh.Output.Note("other users of this machine can read the file that the shell made for the export: run `chmod 600` on it, or use --output FILE, which makes it for you alone")
		}
		return s.Export(ctx, sh.Output.Out)
	}
	part, err := os.CreateTemp(filepath.Dir(c.Output), filepath.Base(c.Output)+".part-*") // readable for this user only
	if err != nil {
		return fmt.Errorf("the export cannot be written: %w", err)
	}
	defer func() {
		if err != nil {
			_ = part.Close()
			_ = os.Remove(part.Name())
		}
	}()
	moved := newProgress(sh, "received")
	if err := s.Export(ctx, io.MultiWriter(part, moved)); err != nil {
		return err
	}
	if err := errors.Join(part.Sync(), part.Close()); err != nil {
		return fmt.Errorf("the export cannot be written: %w", err)
	}
	if err := os.Rename(part.Name(), c.Output); err != nil {
		return fmt.Errorf("the export cannot be written: %w", err)
	}
	sh.Output.Note("the session %s is in %s (%s)", sh.Session, c.Output, cli.Size(moved.bytes))
	return nil
}

// openToOthers reports whether f is a regular file, such as one that a shell opened for the
// output, that other users of the machine can read.
func openToOthers(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o044 != 0
}

// ImportCommand is shoal import.
type ImportCommand struct {
	File       string `arg:"" help:"An export of a session; - is standard input. With --session the imported session gets that id."`
	Replace    bool   `help:"Replace a session that is not empty. Its data is lost, except for its keys."`
	PausePlans bool   `help:"Pause the plans of the session, for a copy that runs next to the original."`
}

var importHead = []string{"ID", "NAME", "STATUS", "CREATED", "RECORDS"}

// Run imports a session and prints it.
func (c *ImportCommand) Run(ctx context.Context, sh *cli.Shell) error {
	in := sh.In
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return fmt.Errorf("the export cannot be read: %w", err)
		}
		defer file.Close() //nolint:errcheck // it was only read
		in = file
	}
	source := bufio.NewReaderSize(in, 64<<10)
	id, err := exportedID(source)
	if err != nil {
		return err
	}
	if !sh.SessionChosen {
		sh.Session = id
	}
	s, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	made, err := s.Import(ctx, io.TeeReader(source, newProgress(sh, "sent")), client.ImportOptions{Replace: c.Replace, PausePlans: c.PausePlans})
	if err != nil {
		return err
	}
	all := int64(0)
	for _, n := range made.Records {
		all += n
	}
	return sh.Output.PrintTable(made, importHead, append(sessionRow(sh.Output, made.Session), cli.Itoa(all)))
}

// exportedID returns the session id in the first line of an export, without consuming the line.
func exportedID(r *bufio.Reader) (shoal.SessionID, error) {
	const most = 4096
	first, err := r.Peek(most)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("the export cannot be read: %w", err)
	}
	line, _, _ := strings.Cut(string(first), "\n")
	var head struct {
		Type    string          `json:"type"`
		Session shoal.SessionID `json:"session"`
	}
	if json.Unmarshal([]byte(line), &head) != nil || head.Type != "export" || head.Session == "" {
		return "", shoal.E("", shoal.InvalidArgument, "this is not an export of a session; create one with shoal export")
	}
	return head.Session, nil
}

// progress counts the transferred bytes and notes them every few seconds.
type progress struct {
	sh    *cli.Shell
	verb  string
	bytes int64
	next  time.Time
}

func newProgress(sh *cli.Shell, verb string) *progress {
	return &progress{sh: sh, verb: verb, next: time.Now().Add(time.Second)}
}

// Write counts b.
func (p *progress) Write(b []byte) (int, error) {
	p.bytes += int64(len(b))
	if now := time.Now(); now.After(p.next) {
		p.next = now.Add(5 * time.Second)
		p.sh.Output.Note("%s so far: %s", p.verb, cli.Size(p.bytes))
	}
	return len(b), nil
}
