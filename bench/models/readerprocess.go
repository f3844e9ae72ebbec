package models

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/shoal-dev/shoal/bench/process"
)

// readerProcess is a process that reads the stream of a model and measures itself, so
// that the work of the model and of the driver does not count.
type readerProcess struct {
	name    string
	cmd     *exec.Cmd
	stdin   io.Closer
	orders  *json.Encoder
	answers *json.Decoder
	output  bytes.Buffer // read only after the process has ended
}

func startReader(ctx context.Context, name, program string, args ...string) (*readerProcess, error) {
	p := &readerProcess{name: name, cmd: exec.CommandContext(ctx, program, args...)}
	p.cmd.Stderr = &p.output
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.stdin, p.orders, p.answers = stdin, json.NewEncoder(stdin), json.NewDecoder(stdout)
	return p, p.cmd.Start()
}

func (p *readerProcess) read(o order) (reading, error) {
	var found reading
	err := p.orders.Encode(o)
	if err == nil {
		err = p.answers.Decode(&found)
	}
	if err != nil {
		return found, fmt.Errorf("%s: %w; %w\n%s", p.name, err, p.stop(), p.output.Bytes())
	}
	return found, nil
}

// stop ends the process and waits until it has ended.
func (p *readerProcess) stop() error {
	return errors.Join(p.stdin.Close(), p.cmd.Wait())
}

// openaiRow is OpenAI's module for Go; its reader is bench/peers/openai.
const openaiRow = "openai-go, NewStreaming"

// The rows of the Vercel AI SDK, whose programs are in bench/ai-sdk and require Node.
const (
	aiRow   = "Vercel AI SDK, fullStream"
	aiUIRow = "Vercel AI SDK, readUIMessageStream"
)

// NodeDir contains the programs of the Vercel AI SDK.
var NodeDir = filepath.Join("bench", "ai-sdk")

// startAI starts the reader of the Vercel AI SDK; how is full or ui.
func startAI(ctx context.Context, name, how, url string) (*readerProcess, error) {
	node, err := process.InstallNode(ctx, NodeDir)
	if err != nil {
		return nil, err
	}
	return startReader(ctx, name, node, filepath.Join(NodeDir, "reader.mjs"), how, url)
}

// Versions returns the versions of the AI SDK and of Node.
func Versions(ctx context.Context) string {
	var lock struct {
		Packages map[string]struct{ Version string }
	}
	text, err := os.ReadFile(filepath.Join(NodeDir, "package-lock.json"))
	if err == nil {
		err = json.Unmarshal(text, &lock)
	}
	version, failed := exec.CommandContext(ctx, "node", "--version").Output()
	if err != nil || failed != nil {
		return "unknown versions"
	}
	return fmt.Sprintf("ai %s, Node %s", lock.Packages["node_modules/ai"].Version, bytes.TrimSpace(version))
}
