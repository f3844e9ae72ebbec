package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// MissingError reports that a program is not installed on this machine, so that its row
// is left out.
type MissingError string

func (e MissingError) Error() string { return string(e) }

// ErrNoNode reports that Node is not installed on this machine.
const ErrNoNode = MissingError("node and npm are not installed: the rows of the Vercel AI SDK and of the MCP SDK for TypeScript are left out (Debian: apt-get install nodejs npm)")

// InstallNode installs the packages of the package-lock.json in a directory unless they
// are installed already, and returns the path of node.
func InstallNode(ctx context.Context, dir string) (node string, err error) {
	node, noNode := exec.LookPath("node")
	npm, noNPM := exec.LookPath("npm")
	if noNode != nil || noNPM != nil {
		return "", ErrNoNode
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
