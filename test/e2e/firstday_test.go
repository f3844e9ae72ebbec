package e2e_test

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

// withoutKeys begins a line of a shell that knows no model vendor.
const withoutKeys = "unset OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY GOOGLE_API_KEY; "

// firstDay is a server that has just been started for the first time, without a key
// for any model, and a person who types the commands it prints.
type firstDay struct {
	newcomer
	up    *server
	typed []string // the commands that it prints, but for the first
	again string   // the first of them, which makes a link that opens the console
}

func newFirstDay(t *testing.T) *firstDay {
	t.Helper()
	f := &firstDay{newcomer: newcomer{clone: t.TempDir(), home: t.TempDir()}}
	f.up = &server{process: f.shell(t, withoutKeys+"exec "+shoalBinary.Path()+" serve --addr 127.0.0.1:0")}
	_, f.up.url, _ = strings.Cut(f.up.lineWith(" is up on "), " is up on ")
	for line := f.up.line(); !strings.HasPrefix(line, "Ctrl-C"); line = f.up.line() {
		if strings.Contains(line, "/#login=") {
			t.Errorf("the server prints a link that signs in where no terminal is: %s", line)
		}
		if command, found := strings.CutPrefix(line, "  "+shoalBinary.Path()+" "); found {
			f.typed = append(f.typed, command)
		}
	}
	if len(f.typed) == 0 {
		t.Fatal("the first start prints no command")
	}
	f.again, f.typed = f.typed[0], f.typed[1:]
	key, err := os.ReadFile(filepath.Join(f.home, ".local", "share", "shoal", "admin.key"))
	if err != nil {
		t.Fatal(err)
	}
	f.up.admin = strings.TrimSpace(string(key))
	return f
}

// types runs a command, given without the leading `shoal`, and returns the lines of its
// standard output, its standard error, and its exit code.
func (f *firstDay) types(t *testing.T, command string) (lines []string, said string, code int) {
	t.Helper()
	return f.ended(t, f.begins(t, command))
}

// begins types a command and does not wait for its end.
func (f *firstDay) begins(t *testing.T, command string) *process {
	t.Helper()
	if !strings.HasPrefix(command, "--url ") {
		command = "--url " + f.up.url + " " + command
	}
	return f.shell(t, "exec "+shoalBinary.Path()+" "+command)
}

func (f *firstDay) ended(t *testing.T, p *process) (lines []string, said string, code int) {
	t.Helper()
	lines, err := p.end()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return lines, p.said(), code
}

// must is types for what has to succeed.
func (f *firstDay) must(t *testing.T, command string) []string {
	t.Helper()
	lines, said, code := f.types(t, command)
	if code != 0 {
		t.Fatalf("shoal %s exits with %d: %q %s", command, code, lines, said)
	}
	return lines
}

// asks waits until the agent waits for so many answers, and returns what `shoal
// approvals` prints then, the cells of each line.
func (f *firstDay) asks(t *testing.T, many int, tool string) (rows [][]string) {
	t.Helper()
	events, stop := f.up.follow(t, bearer(f.up.admin), lab+"/events", "")
	defer stop()
	next(t, events, shoal.EventSnapshotEnd, nil)
	for {
		rows = nil
		for _, line := range f.must(t, f.typed[2]) {
			if cells := strings.Split(line, "\t"); strings.HasPrefix(cells[4], tool+" ") {
				rows = append(rows, cells)
			}
		}
		if len(rows) == many {
			return rows
		}
		next(t, events, shoal.EventPendingOpened, nil)
	}
}

// A new user types the commands that the first start prints, and those printed after
// that: an agent that needs no key shows two cards, is answered, asks for
// a permission, and gets it or not.
func TestFirstDay(t *testing.T) {
	t.Parallel()
	f := newFirstDay(t)
	at := "--url " + f.up.url + " "
	want := []string{at + "send welcome 'I need a laptop'", at + "tail welcome", at + "approvals"}
	if len(f.typed) < 3 || !slices.Equal(f.typed[:3], want) {
		t.Fatalf("the first start prints the commands %q, want %q", f.typed, want)
	}
	f.opensTheConsole(t, at+"console --admin")
	tail := f.begins(t, f.typed[1])
	if sent := f.must(t, f.typed[0]); len(sent) != 1 || !regexp.MustCompile(`^msg_\w+\twelcome\t2$`).MatchString(sent[0]) {
		t.Errorf("send prints %q", sent)
	}
	cards := f.asks(t, 2, "showProductCard")
	for i, laptop := range []string{"Lark Air 13", "Lark Pro 16"} {
		if c := cards[i]; c[1] != "client_tool" || c[2] != "shop-agent" || c[3] != "welcome" || !strings.Contains(c[4], laptop) {
			t.Errorf("approvals prints %q", c)
		}
	}
	answer := func(row []string, text string) string { return "approvals answer " + row[0] + " '" + text + "'" }
	if _, said, code := f.types(t, answer(cards[1], `{"chosen":"perhaps"}`)); code != 2 || !strings.Contains(said, "chosen") {
		t.Errorf("an answer that does not fit exits with %d: %s", code, said)
	}
	f.must(t, answer(cards[0], `{"chosen":true}`))
	if _, said, code := f.types(t, answer(cards[0], `{"chosen":false}`)); code != 5 || !strings.Contains(said, "answered") {
		t.Errorf("a second answer exits with %d: %s", code, said)
	}
	if _, said, code := f.types(t, answer(cards[1], `{"chosen":true}`)); code != 5 || !strings.Contains(said, "answered") {
		t.Errorf("a second choice exits with %d: %s", code, said)
	}
	order := f.asks(t, 1, "placeOrder")[0]
	if order[1] != "permission" || order[3] != "purchasing" {
		t.Errorf("approvals prints %q", order)
	}
	f.must(t, "approvals approve "+order[0])
	if _, said, code := f.types(t, "approvals deny "+order[0]); code != 5 {
		t.Errorf("who denies what is approved exits with %d: %s", code, said)
	}
	heard := tail.lineWith("your laptop is ordered")
	if !contains(heard, "I am a script", `[tool showProductCard {"name":"Lark Air 13"`, "A good choice") {
		t.Errorf("tail prints %s", heard)
	}
	if rows := f.must(t, "runs --agent shop-agent"); len(rows) != 1 || !strings.Contains(rows[0], "\tshop-agent\tcompleted\twelcome/operator\t") {
		t.Errorf("runs prints %q", rows)
	}
	if rows := f.must(t, f.typed[2]); len(rows) != 0 {
		t.Errorf("at the end approvals prints %q", rows)
	}

	// Anything else is answered as what it is.
	if lines := f.must(t, "send welcome 'How are you?' --wait"); len(lines) != 1 || !strings.HasPrefix(lines[0], "I am a script, not a model, and play one story only") {
		t.Errorf("send --wait prints %q", lines)
	}
}

// opensTheConsole follows two links that the printed command makes, in a browser that
// knows only HTTP.
func (f *firstDay) opensTheConsole(t *testing.T, command string) {
	t.Helper()
	if f.again != command {
		t.Errorf("the first start prints %q, want %q", f.again, command)
	}
	made := append(f.must(t, f.again+" -q"), f.must(t, f.again+" -q")...)
	if len(made) != 2 || made[0] == made[1] {
		t.Fatalf("shoal console prints %q", made)
	}
	page := request(t, http.MethodGet, f.up.url+"/", http.Header{"Accept": {"text/html"}}, nil)
	if page.status != http.StatusOK || !strings.Contains(string(page.body), "<title>Shoal</title>") {
		t.Errorf("the console is %d %s", page.status, page.body)
	}
	for _, link := range made {
		code, found := strings.CutPrefix(link, f.up.url+"/#login=")
		for _, want := range []int{http.StatusOK, http.StatusUnauthorized} {
			in := request(t, http.MethodPost, f.up.url+"/console/login", http.Header{"Content-Type": {"application/json"}}, strings.NewReader(`{"code": "`+code+`"}`))
			if !found || in.status != want || (in.header.Get("Set-Cookie") != "") != (want == http.StatusOK) {
				t.Errorf("%s answers %d %s, want %d", link, in.status, in.body, want)
			}
		}
	}
}

// The same with a denial: the exit code reports it to the process that waited for the
// answer.
func TestFirstDayDenied(t *testing.T) {
	t.Parallel()
	f := newFirstDay(t)
	waiting := f.begins(t, "send welcome 'I need a laptop' --wait")
	for i, card := range f.asks(t, 2, "showProductCard") {
		f.must(t, "approvals answer "+card[0]+` '{"chosen":`+map[bool]string{true: "true", false: "false"}[i == 1]+"}'")
	}
	f.must(t, "approvals deny "+f.asks(t, 1, "placeOrder")[0][0]+" --reason 'too dear'")
	lines, said, code := f.ended(t, waiting)
	if text := strings.Join(lines, "\n"); !contains(text, "A good choice: the Lark Pro 16", "The order was not approved, so I bought nothing.") {
		t.Errorf("send --wait prints %s", text)
	}
	if code != 9 || !contains(said, "waits for the result of showProductCard", "a person denied one of its requests") {
		t.Errorf("send --wait exits with %d and says %s", code, said)
	}
}

// A directory of configs: the good ones are applied, of the others every wrong
// field is named.
func TestApplyDirectory(t *testing.T) {
	t.Parallel()
	f := newFirstDay(t)
	for name, text := range map[string]string{
		"agents/greeter.yaml": "version: \"1.0\"\nagent: {system: You greet.}\nmodel:\n  provider: script\n  name: greeting\n  providerOptions:\n    script: |\n" +
			"      call sendSpaceMessage {\"spaceId\":\"hall\",\"text\":\"Good morning.\"}\n      ---\n      say Done.\n",
		"agents/wrong.json": `{"version":"1.0","agent":{"id":"wrong","systm":"x"},"model":{"provider":"acme","name":""},
			"loop":{"maxSteps":0,"onNewMessage":"panic"},"tools":[{"name":"a b"},{"name":"ok","executionType":"request","execution":{"url":"ftp://x","method":"LOOK"}}]}`,
		"agents/broken.yml": "agent: [\n",
		"agents/notes.txt":  "no config",
	} {
		path := filepath.Join(f.clone, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines, said, code := f.types(t, "agents apply -f agents")
	if code != 1 || !slices.Equal(lines, []string{"greeter\tcreated\t1\tagents/greeter.yaml"}) {
		t.Errorf("apply exits with %d and prints %q", code, lines)
	}
	for _, wrong := range []string{
		"agent.systm ", "agent.system ", "model.provider ", "model.name ", "loop.maxSteps ", "loop.onNewMessage ", "tools[0].name ",
		"tools[1].execution.url ", "tools[1].execution.method ",
	} {
		if !regexp.MustCompile(`error: agents/wrong\.json:\d+:\d+: ` + regexp.QuoteMeta(wrong)).MatchString(said) {
			t.Errorf("apply does not name %sbut says\n%s", wrong, said)
		}
	}
	if !contains(said, "error: agents/broken.yml:2:1: ", "error: 2 of 3 files were not applied") || strings.Contains(said, "notes") {
		t.Errorf("apply says\n%s", said)
	}
	if lines, said, code := f.types(t, "agents apply -f agents/greeter.yaml"); code != 0 || !slices.Equal(lines, []string{"greeter\tunchanged\t1\tagents/greeter.yaml"}) {
		t.Errorf("applied again it exits with %d and prints %q %s", code, lines, said)
	}
	if _, said, code := f.types(t, "agents apply -f nowhere"); code != 1 || !strings.Contains(said, "nowhere") {
		t.Errorf("a missing directory exits with %d: %s", code, said)
	}
	if _, said, code := f.types(t, "agents apply"); code != 2 {
		t.Errorf("without a file it exits with %d: %s", code, said)
	}
	if got := request(t, http.MethodGet, f.up.url+lab+"/agents/wrong", bearer(f.up.admin), nil); got.status != http.StatusNotFound {
		t.Errorf("of the wrong one is stored %s", got.body)
	}

	// What was applied works.
	f.must(t, "spaces create Hall --id hall -m greeter")
	if lines := f.must(t, "send hall 'Hello?' --wait"); !slices.Equal(lines, []string{"Good morning."}) {
		t.Errorf("send --wait prints %q", lines)
	}
	if lines := f.must(t, "agents trigger greeter doorbell '{\"rings\":2}' --wait"); len(lines) != 1 || !contains(lines[0], "greeter\tcompleted\tservice doorbell") {
		t.Errorf("agents trigger --wait prints %q", lines)
	}
}
