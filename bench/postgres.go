package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

const postgresRow = "PostgreSQL, raw inserts"

// errNoPostgres says that the machine has no PostgreSQL to compare with.
var errNoPostgres = errors.New("PostgreSQL's programs are not installed: that row and its limit are left out (Debian: apt-get install postgresql)")

// postgresSide is a PostgreSQL server that takes inserts without a server of
// ours in between, one connection for each sender.
type postgresSide struct {
	server  *process
	senders []*pgx.Conn
}

func (s *postgresSide) name() string      { return postgresRow }
func (s *postgresSide) process() *process { return s.server }

// beginPostgres makes a new cluster with the settings as they come, and starts
// it.
func (r *run) beginPostgres(ctx context.Context) (*postgresSide, error) {
	initdb, err := exec.LookPath("initdb")
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
		if len(found) == 0 {
			return nil, errNoPostgres
		}
		initdb = found[len(found)-1]
	}
	data := r.fresh("postgres")
	owner, err := postgresOwner(data, r.dir)
	if err != nil {
		return nil, err
	}
	init := exec.CommandContext(ctx, initdb, "-D", data, "-A", "trust", "-U", "postgres")
	init.SysProcAttr, init.Dir = owner, data
	if out, err := init.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	p := &process{addr: addr, ended: make(chan struct{})}
	p.cmd = exec.Command(filepath.Join(filepath.Dir(initdb), "postgres"), "-D", data, "-p", port, "-h", "127.0.0.1", "-k", "", "-N", "200")
	p.cmd.SysProcAttr, p.cmd.Dir = owner, data
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // ProcessState tells how it ended
	}()
	return &postgresSide{server: p}, nil
}

// postgresOwner makes the data directory for whom the server runs as, which
// may not be root.
func postgresOwner(data, above string) (*syscall.SysProcAttr, error) {
	if err := os.Mkdir(data, 0o700); err != nil || os.Getuid() != 0 {
		return nil, err
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	err = errors.Join(os.Chown(data, int(uid), int(gid)), os.Chmod(above, 0o711))
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, err
}

func (s *postgresSide) open(ctx context.Context, pairs int) error {
	for began := time.Now(); len(s.senders) < pairs; {
		c, err := pgx.Connect(ctx, "postgres://postgres@"+s.server.addr+"/postgres")
		if err == nil {
			s.senders = append(s.senders, c)
			continue
		}
		select {
		case <-s.server.ended:
			return fmt.Errorf("postgres ended: %v\n%s", s.server.cmd.ProcessState, bytes.TrimSpace(s.server.said.Bytes()))
		case <-time.After(20 * time.Millisecond):
		}
		if time.Since(began) > startWithin {
			return err
		}
	}
	_, err := s.senders[0].Exec(ctx, `CREATE TABLE message (
		seq bigserial PRIMARY KEY, space text NOT NULL, sender text NOT NULL, at bigint NOT NULL, body bytea NOT NULL)`)
	return err
}

func (s *postgresSide) send(ctx context.Context, i int, text string, _ bool) error {
	_, err := s.senders[i].Exec(ctx, "INSERT INTO message (space, sender, at, body) VALUES ('space', 'agent', $1, $2)", time.Now().UnixMicro(), []byte(text))
	return err
}

func (s *postgresSide) wait(context.Context, int) ([]byte, error) {
	return nil, errors.New("nobody waits at this side")
}
