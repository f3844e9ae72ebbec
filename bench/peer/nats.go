package peer

import (
	"bufio"
	"context"
	"encoding/json"
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

const natsRow = "NATS JetStream, direct"

// StartNATS starts a server that syncs each write before it responds. The directory may
// contain a stream.
func StartNATS(ctx context.Context, r *driver.Run, dir string) (*process.Process, error) {
	// JetStream responds when its streams are recovered.
	recovered := func(c *natsConn) error { return c.request(ctx, "$JS.API.INFO", "") }
	return launchNATS(ctx, r, dir+".conf", fmt.Sprintf("jetstream { store_dir: %q, sync_interval: always }\n", dir), recovered)
}

// StartCoreNATS starts a server that stores nothing. It returns a [process.MissingError] if NATS
// cannot be built.
func StartCoreNATS(ctx context.Context, r *driver.Run) (*process.Process, error) {
	return launchNATS(ctx, r, r.NewPath("nats")+".conf", "", func(*natsConn) error { return nil })
}

// launchNATS writes the configuration of a server, starts it and waits until a connection is
// ready.
func launchNATS(ctx context.Context, r *driver.Run, config, settings string, ready func(*natsConn) error) (*process.Process, error) {
	program, err := r.BuildPeer(ctx, "nats-server", "github.com/nats-io/nats-server/v2")
	if err != nil {
		return nil, err
	}
	addr, err := process.FreeAddr()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(config, fmt.Appendf(nil, "listen: %q\n%s", addr, settings), 0o600); err != nil {
		return nil, err
	}
	p, err := process.Launch(addr, exec.Command(program, "-c", config))
	if err != nil {
		return nil, err
	}
	return p, p.AwaitReady(ctx, 200*time.Microsecond, func() error {
		c, err := dialNATS(ctx, addr)
		if err != nil {
			return err
		}
		return errors.Join(ready(c), c.conn.Close())
	})
}

// natsSide is a JetStream that the clients call directly. Each sender has a connection,
// whose messages are acknowledged when they are stored, and each waiter has one, to which
// the stored messages are pushed.
type natsSide struct {
	server           *process.Process
	senders, waiters []*natsConn
}

func startNATSSide(ctx context.Context, r *driver.Run) (*natsSide, error) {
	p, err := StartNATS(ctx, r, r.NewPath("nats"))
	return &natsSide{server: p}, err
}

func (s *natsSide) Name() string              { return natsRow }
func (s *natsSide) Process() *process.Process { return s.server }

func (s *natsSide) Prepare(ctx context.Context, pairs int) error {
	for i := range pairs {
		sender, err := dialNATS(ctx, s.server.Addr)
		if err != nil {
			return err
		}
		waiter, err := dialNATS(ctx, s.server.Addr)
		if err != nil {
			return err
		}
		s.senders, s.waiters = append(s.senders, sender), append(s.waiters, waiter)
		if i == 0 {
			if err := sender.makeStream(ctx); err != nil {
				return err
			}
		}
		consumer := fmt.Sprintf(`{"stream_name":"log","config":{"deliver_subject":"to.%d","filter_subject":"log.%d","ack_policy":"none","deliver_policy":"all"}}`, i, i)
		if err := waiter.say(fmt.Sprintf("SUB to.%d 2\r\n", i)); err != nil {
			return err
		}
		if err := waiter.request(ctx, "$JS.API.CONSUMER.CREATE.log", consumer); err != nil {
			return err
		}
	}
	return nil
}

func (s *natsSide) Send(ctx context.Context, i int, text string, wake bool) error {
	subject := "log.nobody"
	if wake {
		subject = "log." + strconv.Itoa(i)
	}
	return s.senders[i].request(ctx, subject, text)
}

func (s *natsSide) Wait(ctx context.Context, i int) ([]byte, error) {
	return s.waiters[i].receive(ctx)
}

// natsConn is a minimal client of the NATS protocol, for one call at a time.
type natsConn struct {
	conn  net.Conn
	in    *bufio.Reader
	inbox string
}

func dialNATS(ctx context.Context, addr string) (*natsConn, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &natsConn{conn, bufio.NewReader(conn), "_INBOX." + strings.ReplaceAll(conn.LocalAddr().String(), ".", "-")}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // unblocks the read below
	if _, err = c.in.ReadString('\n'); err == nil {             // INFO
		err = c.say(`CONNECT {"verbose":false,"pedantic":false}` + "\r\nSUB " + c.inbox + " 1\r\n")
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

func (c *natsConn) makeStream(ctx context.Context) error {
	return c.request(ctx, "$JS.API.STREAM.CREATE.log", `{"name":"log","subjects":["log.*"],"storage":"file","retention":"limits","discard":"old"}`)
}

func (c *natsConn) say(text string) error {
	_, err := io.WriteString(c.conn, text)
	return err
}

func (c *natsConn) publish(subject, text string) error {
	return c.say(fmt.Sprintf("PUB %s %s %d\r\n%s\r\n", subject, c.inbox, len(text), text))
}

// request publishes a message and waits for the response, which JetStream sends when the
// request is complete.
func (c *natsConn) request(ctx context.Context, subject, text string) error {
	if err := c.publish(subject, text); err != nil {
		return err
	}
	answer, err := c.receive(ctx)
	if err != nil {
		return err
	}
	var failed struct {
		Error *struct{ Description string }
	}
	if err := json.Unmarshal(answer, &failed); err != nil {
		return fmt.Errorf("%s: invalid response %.200q: %w", subject, answer, err)
	}
	if failed.Error != nil {
		return errors.New(failed.Error.Description)
	}
	return nil
}

// receive returns the next message.
func (c *natsConn) receive(ctx context.Context) ([]byte, error) {
	defer context.AfterFunc(ctx, func() { _ = c.conn.Close() })() // unblocks the read below
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch last := words[len(words)-1]; words[0] {
		case "PING":
			if err := c.say("PONG\r\n"); err != nil {
				return nil, err
			}
		case "-ERR":
			return nil, errors.New(strings.TrimSpace(line))
		case "HMSG": // the status "no responders"
			return nil, fmt.Errorf("got a status instead of a message: %s", strings.TrimSpace(line))
		case "MSG":
			n, err := strconv.Atoi(last)
			if err != nil || n < 0 || n > maxPeerMessage {
				return nil, fmt.Errorf("invalid message size %q", last)
			}
			text := make([]byte, n+2)
			if _, err = io.ReadFull(c.in, text); err != nil {
				return nil, err
			}
			return text[:n], nil
		}
	}
}

// CreateStream creates a directory with a stream of a number of messages with the same
// text. It returns a [process.MissingError] if NATS cannot be built.
func CreateStream(ctx context.Context, r *driver.Run, messages int, text string) (dir string, err error) {
	dir = r.NewPath("nats")
	p, err := StartNATS(ctx, r, dir)
	if err != nil {
		return "", err
	}
	defer p.Stop()
	c, err := dialNATS(ctx, p.Addr)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, c.conn.Close()) }()
	if err := c.makeStream(ctx); err != nil {
		return "", err
	}
	const group = 500 // unacknowledged messages
	for done := 0; done < messages; done += group {
		for range group {
			if err := c.publish("log.nobody", text); err != nil {
				return "", err
			}
		}
		for range group {
			if _, err := c.receive(ctx); err != nil {
				return "", err
			}
		}
	}
	return dir, nil
}
