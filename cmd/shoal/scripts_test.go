package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/shoal-dev/shoal/internal/app"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"shoal": main})
}

// TestScripts runs the scripts in testdata, each beside a server of its own with
// an empty data directory. Besides testscript's commands they have:
//
//	exits CODE COMMAND…   runs a command that must end with this code
//	waits LIST REGEXP     waits until the session's list, as REST answers it, holds this
//	keep NAME             keeps what the last command printed in a variable
//	answers FILE          puts a server that gives these answers in the server's place: see standIn
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			data := filepath.Join(env.WorkDir, "data")
			server, err := app.Start(context.Background(), app.Config{Addr: "127.0.0.1:0", Data: data})
			if err != nil {
				return err
			}
			env.Defer(server.Stop)
			env.Setenv("SHOAL_URL", server.URL())
			env.Setenv("TAKEN", strings.TrimPrefix(server.URL(), "http://"))
			env.Setenv("SHOAL_DATA", data)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": endsWith, "keep": keep, "waits": waits, "answers": answers},
	})
}

func endsWith(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if code != want {
		ts.Fatalf("%s ended with %d, want %d\n%s%s", strings.Join(args[1:], " "), code, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// waits asks again until the answer holds what is waited for: what an agent does comes
// after the command that made it do so.
func waits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waits LIST REGEXP")
	}
	want := regexp.MustCompile(args[1])
	key, err := os.ReadFile(filepath.Join(ts.Getenv("SHOAL_DATA"), "operator.key"))
	ts.Check(err)
	said := ""
	for end := time.Now().Add(time.Minute); !want.MatchString(said); {
		if time.Now().After(end) {
			ts.Fatalf("the list is %s", said)
		}
		<-time.After(10 * time.Millisecond)
		r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, ts.Getenv("SHOAL_URL")+"/v1/sessions/default/"+args[0], nil)
		ts.Check(err)
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(key)))
		res, err := http.DefaultClient.Do(r)
		ts.Check(err)
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		ts.Check(err)
		said = string(text)
	}
}

func keep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: keep NAME")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}
