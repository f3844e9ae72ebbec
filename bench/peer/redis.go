package peer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal/bench/driver"
	"github.com/shoal-dev/shoal/bench/process"
)

const redisRow = "Redis, direct"

// errNoRedis reports that Redis is not installed on this machine.
const errNoRedis = process.MissingError("redis-server is not installed: its rows are left out (Debian: apt-get install redis-server)")

// redisSide is a Redis that syncs each write before it responds and that the clients call
// directly. Each sender has a connection that appends to a stream, each waiter one that
// blocks on it.
type redisSide struct {
	server           *process.Process
	senders, waiters []*redisConn
	last             []string // the id of each waiter's last entry
}

func (s *redisSide) Name() string              { return redisRow }
func (s *redisSide) Process() *process.Process { return s.server }

func startRedis(ctx context.Context, r *driver.Run) (*redisSide, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, errNoRedis
	}
	addr, err := process.FreeAddr()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	dir := r.NewPath("redis")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	p, err := process.Launch(addr, exec.Command(program, "--bind", "127.0.0.1", "--port", port, "--dir", dir, "--save", "", "--appendonly", "yes", "--appendfsync", "always"))
	if err != nil {
		return nil, err
	}
	return &redisSide{server: p}, p.AwaitReady(ctx, 5*time.Millisecond, func() error {
		c, err := dialRedis(addr)
		if err != nil {
			return err
		}
		_, err = c.call(ctx, "PING")
		return errors.Join(err, c.conn.Close())
	})
}

func (s *redisSide) Prepare(_ context.Context, pairs int) error {
	for range pairs {
		sender, err := dialRedis(s.server.Addr)
		if err != nil {
			return err
		}
		waiter, err := dialRedis(s.server.Addr)
		if err != nil {
			return err
		}
		s.senders, s.waiters, s.last = append(s.senders, sender), append(s.waiters, waiter), append(s.last, "0")
	}
	return nil
}

func (s *redisSide) Send(ctx context.Context, i int, text string, wake bool) error {
	stream := "log"
	if wake {
		stream = channelOf(i)
	}
	_, err := s.senders[i].call(ctx, "XADD", stream, "*", "m", text)
	return err
}

func (s *redisSide) Wait(ctx context.Context, i int) ([]byte, error) {
	answer, err := s.waiters[i].call(ctx, "XREAD", "COUNT", "1", "BLOCK", "0", "STREAMS", channelOf(i), s.last[i])
	if err != nil {
		return nil, err
	}
	if len(answer) < 4 { // stream, id, field, text
		return nil, fmt.Errorf("invalid response of XREAD: %q", answer)
	}
	s.last[i] = answer[1]
	return []byte(answer[3]), nil
}

// maxPeerMessage limits the size of a peer's message, which contains only what this
// command has sent.
const maxPeerMessage = 1 << 20

// redisConn is a minimal client of the Redis protocol, for one call at a time.
type redisConn struct {
	conn net.Conn
	in   *bufio.Reader
}

func dialRedis(addr string) (*redisConn, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &redisConn{c, bufio.NewReader(c)}, nil
}

// call sends a command and returns the strings of the response, without their nesting.
func (c *redisConn) call(ctx context.Context, words ...string) ([]string, error) {
	defer context.AfterFunc(ctx, func() { _ = c.conn.Close() })() // unblocks the read below
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := io.WriteString(c.conn, b.String()); err != nil {
		return nil, err
	}
	return c.read()
}

func (c *redisConn) read() (all []string, err error) {
	line, err := c.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	if line == "" {
		return nil, errors.New("an empty line")
	}
	rest := line[1:]
	switch line[0] {
	case '+', ':':
		return []string{rest}, nil
	case '-':
		return nil, errors.New(rest)
	}
	n, err := strconv.Atoi(rest)
	if err == nil && n > maxPeerMessage {
		err = fmt.Errorf("invalid response length %d", n)
	}
	if err != nil || n < 0 {
		return nil, err // -1 means none
	}
	if line[0] == '$' {
		text := make([]byte, n+2)
		if _, err = io.ReadFull(c.in, text); err != nil {
			return nil, err
		}
		return []string{string(text[:n])}, nil
	}
	for range n {
		some, err := c.read()
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}
