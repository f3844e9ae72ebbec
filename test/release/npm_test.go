package release_test

import (
	"bufio"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// newRegistry serves the npm packages of the release as a registry does.
func newRegistry(t *testing.T) (url string) {
	t.Helper()
	packages := map[string][]byte{}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	for _, a := range released(t).Artifacts {
		if a.Kind != "npm" {
			continue
		}
		tarball := filepath.Join(dist(t), a.File)
		sum := sha512.Sum512([]byte(read(t, tarball)))
		var head map[string]any
		content := must(t, exec.CommandContext(bounded(t), "tar", "-xzOf", tarball, "package/package.json"))
		if err := json.Unmarshal([]byte(content), &head); err != nil {
			t.Fatal(err)
		}
		head["dist"] = map[string]any{"tarball": server.URL + "/files/" + a.File, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
		name := head["name"].(string)
		document, err := json.Marshal(map[string]any{
			"name": name, "dist-tags": map[string]any{"latest": version}, "versions": map[string]any{version: head},
		})
		if err != nil {
			t.Fatal(err)
		}
		packages[name] = document
	}
	mux.Handle("/files/", http.StripPrefix("/files/", http.FileServer(http.Dir(dist(t)))))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		document, found := packages[strings.TrimPrefix(r.URL.Path, "/")]
		if !found {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(document)
	})
	return server.URL
}

// newNodeMachine is this machine with an empty home and a PATH of nothing but Node,
// npm and what they call.
func newNodeMachine(t *testing.T) (m machine, prefix string) {
	t.Helper()
	dir, programs := t.TempDir(), t.TempDir()
	for _, name := range []string{"node", "npm", "npx", "sh", "env"} {
		if err := os.Symlink(tool(t, name, "nodejs npm"), filepath.Join(programs, name)); err != nil {
			t.Fatal(err)
		}
	}
	prefix = filepath.Join(dir, "prefix")
	return machine{env: []string{
		"HOME=" + dir, "PATH=" + programs, "SHOAL_ADDR=127.0.0.1:0", "npm_config_registry=" + newRegistry(t), "npm_config_prefix=" + prefix,
		"npm_config_update_notifier=false", "npm_config_audit=false", "npm_config_fund=false", "npm_config_yes=true",
	}}, prefix
}

// programs returns the directory of the machine's programs.
func programs(m machine) string { return strings.TrimPrefix(m.env[1], "PATH=") }

// `npx @shoal-dev/server` runs the server, and with arguments the command line; the
// program that it starts gets the signals and decides how it ends.
func TestNpx(t *testing.T) {
	t.Parallel()
	m, _ := newNodeMachine(t)
	npx := filepath.Join(programs(m), "npx")
	run := []string{npx, "@shoal-dev/server"}
	i := installed{machine: m, npx: true, shoal: run, serve: run, keyFile: filepath.Join(strings.TrimPrefix(m.env[0], "HOME="), ".local/share/shoal/operator.key")}
	i.describesItself(t)
	i.firstOrder(t)
	if printed, code := ran(t, m.command(t, 0, append(run, "spaces", "--no-such-flag")...)); code != 2 || !strings.Contains(printed, "error: ") {
		t.Errorf("a wrong flag exits with %d: %s", code, printed)
	}
}

// Installed globally it is `shoal`, as from any other package.
func TestNpmInstall(t *testing.T) {
	t.Parallel()
	m, prefix := newNodeMachine(t)
	must(t, m.command(t, 0, filepath.Join(programs(m), "npm"), "install", "--global", "@shoal-dev/server"))
	program := filepath.Join(prefix, "bin", "shoal")
	if help := must(t, m.command(t, 0, program, "--help")); !strings.Contains(help, "Usage: shoal") {
		t.Errorf("shoal --help prints %s", help)
	}
	passesSignals(t, m, program)

	// Without the package of the platform a sentence says what to do.
	if err := os.RemoveAll(filepath.Join(prefix, "lib/node_modules/@shoal-dev/server/node_modules")); err != nil {
		t.Fatal(err)
	}
	platform := "@shoal-dev/server-" + runtime.GOOS + "-" + strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
	if printed, code := ran(t, m.command(t, 0, program, "version")); code != 1 || !strings.Contains(printed, "error: the package "+platform+" is not installed\ntry: ") {
		t.Errorf("without its program the package exits with %d: %s", code, printed)
	}
}

// passesSignals checks that the program which npm links passes SIGTERM on to the
// server, and ends by the signal that kills the server.
func passesSignals(t *testing.T, m machine, program string) {
	t.Helper()
	start := func() *exec.Cmd {
		t.Helper()
		server := m.command(t, 0, program, "serve")
		out, err := server.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		server.Stderr = server.Stdout
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		for scan := bufio.NewScanner(out); scan.Scan(); {
			if strings.Contains(scan.Text(), " is up on ") {
				return server
			}
		}
		t.Fatal("the server does not start")
		return nil
	}
	stopped := start()
	if err := stopped.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := stopped.Wait(); err != nil {
		t.Errorf("after SIGTERM it ends with %v", err)
	}
	killed := start()
	pid := strconv.Itoa(killed.Process.Pid)
	child, err := strconv.Atoi(strings.TrimSpace(read(t, filepath.Join("/proc", pid, "task", pid, "children"))))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(child, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait() // with the signal
	if status := killed.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Errorf("after its server was killed it ends with %v", killed.ProcessState)
	}
}
