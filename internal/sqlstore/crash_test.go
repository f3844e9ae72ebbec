package sqlstore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// The environment variables of a child process: what it does, and with which database.
const (
	childRole = "SHOAL_STORE_CHILD"
	childURL  = "SHOAL_STORE_URL"
)

func TestMain(m *testing.M) {
	switch os.Getenv(childRole) {
	case "posts":
		childPosts()
	case "opens":
		childOpens()
	case "disk fails":
		childDiskFails()
	default:
		os.Exit(m.Run())
	}
}

// child starts this test program in a role and returns it with its output.
func child(t *testing.T, role, url string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"="+role, childURL+"="+url)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// childPosts posts without end and prints what was acknowledged.
func childPosts() {
	s, err := sqlstore.Open(context.Background(), sqlstore.Options{URL: os.Getenv(childURL)})
	if err != nil {
		panic(err)
	}
	var saying sync.Mutex
	for range 16 {
		go func() {
			for {
				id := shoal.NewID[shoal.MessageID](shoal.PrefixMessage)
				if err := s.Update(context.Background(), storage.Global, func(tx storage.Tx) error { return post(tx, id, samples[0]) }); err != nil {
					panic(err)
				}
				saying.Lock()
				_, _ = os.Stdout.WriteString(string(id) + "\n") // nobody may be left to read it
				saying.Unlock()
			}
		}()
	}
	select {}
}

func TestKillLosesNothingAcknowledged(t *testing.T) {
	url := newSQLite(t)
	s := open(t, url)
	settle(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	acknowledged := map[shoal.MessageID]bool{}
	for round := range 6 {
		cmd, said := child(t, "posts", url)
		before := len(acknowledged)
		for limit := before + 1 + rand.IntN(500); len(acknowledged) < limit && said.Scan(); {
			acknowledged[shoal.MessageID(said.Text())] = true
		}
		<-time.After(time.Duration(rand.IntN(3000)) * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for said.Scan() {
			acknowledged[shoal.MessageID(said.Text())] = true
		}
		_ = cmd.Wait() // says that it was killed
		if len(acknowledged) == before {
			t.Fatal("the child posted nothing")
		}

		s := open(t, url)
		ids := stored(t, s)
		for id := range acknowledged {
			if !ids[id] {
				t.Errorf("round %d: %s was acknowledged and is lost", round, id)
			}
		}
		if health := ask(t, s, `PRAGMA integrity_check`); health != "ok" {
			t.Errorf("round %d: integrity check: %s", round, health)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// childDiskFails makes writing fail as with a broken disk, through a limit on the size of
// files, and prints the errors of the store.
func childDiskFails() {
	say := func(what string, err error) {
		if _, err := fmt.Fprintf(os.Stdout, "%s: %s\n", what, shoal.KindOf(err)); err != nil {
			panic(err)
		}
	}
	fatal := make(chan error, 2)
	url := os.Getenv(childURL)
	s, err := sqlstore.Open(context.Background(), sqlstore.Options{URL: url, Fatal: func(err error) { fatal <- err }})
	if err != nil {
		panic(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	log, err := os.Stat(fileOf(url) + "-wal")
	if err != nil {
		panic(err)
	}
	size := uint64(log.Size()) + 20_000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size}); err != nil {
		panic(err)
	}
	for err == nil {
		err = s.Update(context.Background(), storage.Global, func(tx storage.Tx) error { return post(tx, "m", samples[0]) })
	}
	say("the failing update", err)
	say("the fatal error", <-fatal)
	say("the next update", s.Update(context.Background(), storage.Global, func(tx storage.Tx) error { return errors.New("it ran") }))
	say("a view", s.View(context.Background(), func(tx storage.Tx) error { _, err := tx.Entity("default", "ann"); return err }))
	say("closing", s.Close())
	say("another fatal error", func() error {
		select {
		case err := <-fatal:
			return err
		default:
			return nil
		}
	}())
	os.Exit(0)
}

func TestFailingDiskEndsAllWriting(t *testing.T) {
	url := newSQLite(t)
	s := open(t, url)
	settle(t, s)
	cmd, said := child(t, "disk fails", url)
	var got []string
	for said.Scan() {
		got = append(got, said.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"the failing update: internal", "the fatal error: internal", "the next update: busy", "a view: ", "closing: ", "another fatal error: ",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
