package driver

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/client"
)

// StartShoal starts Shoal with a data directory and more arguments. Unthrottled senders exceed
// the default rate limit of a caller, so the limit is raised.
func (r *Run) StartShoal(ctx context.Context, data string, more ...string) (*process.Process, error) {
	args := append([]string{"serve", "--max-calls-per-second", "1000000", "--addr", "ADDR"}, more...)
	return process.Start(ctx, r.Shoal, append(args, "--data", data)...) // AdminClient expects data to be the last
}

// AdminClient returns a client with the admin key from the data directory of a server that
// StartShoal has started, and that key.
func AdminClient(p *process.Process) (*client.Client, string, error) {
	data := p.Cmd.Args[len(p.Cmd.Args)-1]
	key, err := os.ReadFile(filepath.Join(data, "admin.key"))
	if err != nil {
		return nil, "", err
	}
	secret := strings.TrimSpace(string(key))
	admin, err := client.New(client.Options{URL: p.URL(), Key: secret})
	return admin, secret, err
}
