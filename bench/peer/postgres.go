package peer

import (
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

	"github.com/shoal-dev/shoal/bench/driver"
	"github.com/shoal-dev/shoal/bench/process"
)

// PostgresRow names PostgreSQL in tables.
const PostgresRow = "PostgreSQL, direct"

// ErrNoPostgres reports that PostgreSQL is not installed on this machine.
const ErrNoPostgres = process.MissingError("PostgreSQL is not installed: its rows and limits are left out (Debian: apt-get install postgresql)")

// postgresSide is a PostgreSQL server that the clients call directly. Each sender has a
// connection that inserts, each waiter one that listens.
type postgresSide struct {
	server           *process.Process
	senders, waiters []*pgx.Conn
}

func (s *postgresSide) Name() string              { return PostgresRow }
func (s *postgresSide) Process() *process.Process { return s.server }

// PostgresURL returns the URL of the database of a server that StartPostgres has started.
func PostgresURL(server *process.Process) string {
	return "postgres://postgres@" + server.Addr + "/postgres"
}

// StartPostgres creates a new cluster with the default settings and starts it.
func StartPostgres(ctx context.Context, r *driver.Run) (Side, error) {
	initdb, err := exec.LookPath("initdb")
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
		if len(found) == 0 {
			return nil, ErrNoPostgres
		}
		initdb = found[len(found)-1]
	}
	data := r.NewPath("postgres")
	owner, err := postgresOwner(data, r.Dir)
	if err != nil {
		return nil, err
	}
	init := exec.CommandContext(ctx, initdb, "-D", data, "-A", "trust", "-U", "postgres")
	init.SysProcAttr, init.Dir = owner, data
	if out, err := init.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	addr, err := process.FreeAddr()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(filepath.Dir(initdb), "postgres"), "-D", data, "-p", port, "-h", "127.0.0.1", "-k", "", "-N", "200")
	cmd.SysProcAttr, cmd.Dir = owner, data
	p, err := process.Launch(addr, cmd)
	if err != nil {
		return nil, err
	}
	p.StopSignal = os.Interrupt // the fast shutdown, which disconnects the clients
	return &postgresSide{server: p}, nil
}

// postgresOwner creates the data directory for the user that the server runs as. That
// user cannot be root.
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

func (s *postgresSide) Prepare(ctx context.Context, pairs int) error {
	for len(s.senders) < pairs {
		sender, err := s.connect(ctx)
		if err != nil {
			return err
		}
		waiter, err := s.connect(ctx)
		if err != nil {
			return err
		}
		if _, err := waiter.Exec(ctx, "LISTEN "+channelOf(len(s.senders))); err != nil {
			return err
		}
		s.senders, s.waiters = append(s.senders, sender), append(s.waiters, waiter)
	}
	_, err := s.senders[0].Exec(ctx, `CREATE TABLE message (
		seq bigserial PRIMARY KEY, space text NOT NULL, sender text NOT NULL, at bigint NOT NULL, body bytea NOT NULL)`)
	return err
}

func channelOf(i int) string { return "pair" + strconv.Itoa(i) }

// connect connects as soon as the server accepts connections, at most startWithin.
func (s *postgresSide) connect(ctx context.Context) (*pgx.Conn, error) {
	for began := time.Now(); ; {
		c, err := pgx.Connect(ctx, PostgresURL(s.server))
		if err == nil || time.Since(began) > process.StartWithin {
			return c, err
		}
		select {
		case <-s.server.Ended:
			return nil, fmt.Errorf("postgres ended: %v\n%s", s.server.Cmd.ProcessState, s.server.Output())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// The statements of a sender. The second also notifies the waiter, when the row is
// committed.
const (
	postgresInsert = "INSERT INTO message (space, sender, at, body) VALUES ('space', 'agent', $1, $2)"
	postgresNotify = "WITH stored AS (" + postgresInsert + " RETURNING body) SELECT pg_notify($3, convert_from(body, 'UTF8')) FROM stored"
)

func (s *postgresSide) Send(ctx context.Context, i int, text string, wake bool) (err error) {
	if now := time.Now().UnixMicro(); wake {
		_, err = s.senders[i].Exec(ctx, postgresNotify, now, []byte(text), channelOf(i))
	} else {
		_, err = s.senders[i].Exec(ctx, postgresInsert, now, []byte(text))
	}
	return err
}

func (s *postgresSide) Wait(ctx context.Context, i int) ([]byte, error) {
	notification, err := s.waiters[i].WaitForNotification(ctx)
	if err != nil {
		return nil, err
	}
	return []byte(notification.Payload), nil
}
