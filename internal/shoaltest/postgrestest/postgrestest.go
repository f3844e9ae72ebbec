// Package postgrestest starts PostgreSQL servers for tests: one that all tests of a process share, with
// a database for each, and servers that a test may stop.
package postgrestest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Database returns the URL of a new, empty database on a PostgreSQL server of this process.
// The first call starts the server. It listens on a socket in a temporary directory, and
// uses a linguistic collation by default, so that a missing COLLATE clause is detected. The
// server and its directory are removed when the process ends, for whatever reason. If
// PostgreSQL is not installed, the test fails with the command that installs it.
func Database(t testing.TB) string {
	t.Helper()
	server, err := shared()
	if err != nil {
		t.Fatalf("PostgreSQL did not start: %v", err)
	}
	name := fmt.Sprintf("test%d", databases.Add(1))
	ctx := context.Background()
	admin, err := pgx.Connect(ctx, urlOf(server.directory, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(ctx) //nolint:errcheck // the database has been created or not by then
	if _, err := admin.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return urlOf(server.directory, name)
}

var databases atomic.Int64

func urlOf(directory, name string) string {
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/" + name, RawQuery: url.Values{"host": {directory}}.Encode()}
	return u.String()
}

// script runs the server in directory $1 with the programs of directory $2 until
// its standard input ends, which is when the process at the other end is gone. The server
// is new, or a standby of the one at the URL $3. A line with
// the name of a signal stops the server with it, the line "start" starts it again; the
// script writes a line when each is done.
const script = `
trap "" PIPE
fail() { echo failed; cat "$1"/*.log; rm -rf "$1"; exit 1; }
run() {
  "$2/postgres" -D "$1/data" -k "$1" -c listen_addresses= -c max_connections=200 >>"$1/server.log" 2>&1 </dev/null &
  until "$2/pg_isready" -q -h "$1"; do
    kill -0 $! 2>/dev/null || fail "$1"
    sleep 0.05
  done
}
if [ -z "$3" ]; then
  "$2/initdb" -D "$1/data" -U postgres -A trust -E UTF8 --locale-provider=icu --icu-locale=en-US --locale=C.UTF-8 --no-sync >"$1/create.log" 2>&1 || fail "$1"
else
  "$2/pg_basebackup" -D "$1/data" -d "$3" --write-recovery-conf --checkpoint=fast --no-sync >"$1/create.log" 2>&1 || fail "$1"
fi
run "$1" "$2"
echo ready
while read -r order; do
  case "$order" in
  start) run "$1" "$2" ;;
  *) kill -"$order" $!; wait $! ;;
  esac
  echo done
done
kill -QUIT $!
wait
rm -rf "$1"
`

// process is a server and the script that runs it.
type process struct {
	directory string         // where its socket is
	lifeline  io.WriteCloser // the server runs while it is open
	said      *bufio.Reader
}

// shared starts the server of this process, once. Its lifeline is never closed: it
// ends with the process.
var shared = sync.OnceValues(func() (process, error) { return start("") })

// start creates a server in a new directory and starts it: a new one, or a standby of the
// one at the URL primary.
func start(primary string) (server process, err error) {
	programs, err := programs()
	if err != nil {
		return server, err
	}
	if server.directory, err = os.MkdirTemp("", "shoal-postgres-"); err != nil {
		return server, err
	}
	watch := exec.Command("sh", "-c", script, "sh", server.directory, programs, primary)
	watch.Dir = server.directory
	watch.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C must not end the script, which has to clean up
	if os.Geteuid() == 0 {
		// PostgreSQL refuses to run as root.
		if watch.SysProcAttr.Credential, err = account(server.directory); err != nil {
			return server, err
		}
	}
	if server.lifeline, err = watch.StdinPipe(); err != nil {
		return server, err
	}
	out, err := watch.StdoutPipe()
	if err != nil {
		return server, err
	}
	if err := watch.Start(); err != nil {
		return server, err
	}
	server.said = bufio.NewReader(out)
	return server, server.expect("ready")
}

// expect waits until the script writes the given word.
func (p process) expect(word string) error {
	if first, _ := p.said.ReadString('\n'); first != word+"\n" {
		rest, _ := io.ReadAll(p.said)
		return fmt.Errorf("%s\n%s", first, rest)
	}
	return nil
}

// programs returns the program directory of the newest installed PostgreSQL.
func programs() (string, error) {
	installed, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(installed) == 0 {
		path, err := exec.LookPath("initdb")
		if err != nil {
			return "", fmt.Errorf("PostgreSQL is not installed: run apt-get install -y postgresql")
		}
		installed = []string{path}
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	newest := slices.MaxFunc(installed, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(newest), nil
}

// account returns the user postgres and makes it the owner of directory.
func account(directory string) (*syscall.Credential, error) {
	account, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.Atoi(account.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(account.Gid)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(directory, uid, gid)
}

// Everything returns the text of every row of every table of a database. Bytes are in hexadecimal.
func Everything(t testing.TB, database string) string {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, database)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx) //nolint:errcheck // everything has been read by then
	tables, err := columnOf(ctx, c, `SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = current_schema()`)
	if err != nil || len(tables) == 0 {
		t.Fatalf("the tables are %v: %v", tables, err)
	}
	var b strings.Builder
	for _, table := range tables {
		rows, err := columnOf(ctx, c, `SELECT row::text FROM `+table+` AS row`)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			b.WriteString(table + " " + row + "\n")
		}
	}
	return b.String()
}

func columnOf(ctx context.Context, c *pgx.Conn, query string) ([]string, error) {
	rows, err := c.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
