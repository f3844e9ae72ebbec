package main

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

var aiDir = filepath.Join("bench", "ai-sdk")

// errNoNode reports that Node is not installed on this machine.
const errNoNode = missingError("node and npm are not installed: the rows of the Vercel AI SDK and of the MCP SDK for TypeScript are left out (Debian: apt-get install nodejs npm)")

// startAI starts the reader of the Vercel AI SDK; how is full or ui.
func startAI(ctx context.Context, name, how, url string) (*readerProcess, error) {
	node, err := installNode(ctx, aiDir)
	if err != nil {
		return nil, err
	}
	return startReader(ctx, name, node, filepath.Join(aiDir, "reader.mjs"), how, url)
}

// installNode installs the packages of the package-lock.json in a directory unless they
// are installed already, and returns the path of node.
func installNode(ctx context.Context, dir string) (node string, err error) {
	node, noNode := exec.LookPath("node")
	npm, noNPM := exec.LookPath("npm")
	if noNode != nil || noNPM != nil {
		return "", errNoNode
	}
	lock, err := os.Stat(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return "", fmt.Errorf("%w: run the command in the root directory of the repository", err)
	}
	mark := filepath.Join(dir, "node_modules", ".installed")
	if done, err := os.Stat(mark); err == nil && done.ModTime().After(lock.ModTime()) {
		return node, nil
	}
	install := exec.CommandContext(ctx, npm, "--prefix", dir, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Env = append(os.Environ(), trustOfNode()...)
	if output, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", install, err, output)
	}
	return node, os.WriteFile(mark, nil, 0o644)
}

// trustOfNode returns the environment with which Node trusts the certificate authorities
// of the machine.
func trustOfNode() []string {
	const variable, authorities = "NODE_EXTRA_CA_CERTS", "/etc/ssl/certs/ca-certificates.crt"
	if _, err := os.Stat(authorities); err != nil || os.Getenv(variable) != "" {
		return nil
	}
	return []string{variable + "=" + authorities}
}

// aiVersions returns the versions of the AI SDK and of Node.
func aiVersions(ctx context.Context) string {
	var lock struct {
		Packages map[string]struct{ Version string }
	}
	text, err := os.ReadFile(filepath.Join(aiDir, "package-lock.json"))
	if err == nil {
		err = json.Unmarshal(text, &lock)
	}
	version, failed := exec.CommandContext(ctx, "node", "--version").Output()
	if err != nil || failed != nil {
		return "unknown versions"
	}
	return fmt.Sprintf("ai %s, Node %s", lock.Packages["node_modules/ai"].Version, bytes.TrimSpace(version))
}
