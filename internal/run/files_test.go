package run_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// dot is a PNG of a size.
func dot(t *testing.T, width int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, 1))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// painter makes the configuration of an agent with image generators: draw, whose
// calls can be shown, and sketch, whose calls cannot.
func painter(t *testing.T, picture []byte) string {
	t.Helper()
	answer := fmt.Sprintf(`{"data":[{"b64_json":%q}]}`, base64.StdEncoding.EncodeToString(picture))
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
	t.Cleanup(vendor.Close)
	x := fmt.Sprintf(`"executionType":"image-generator","execution":{"provider":"openai","model":"m","includeContext":true,"baseURL":%q}`, vendor.URL)
	return `"tools":[{"name":"draw","displayTool":true,` + x + `},{"name":"sketch",` + x + `}]`
}

var filePath = regexp.MustCompile(`/v1/sessions/default/files/(fil_[0-9a-z]+)`)

// made returns the file that a text names.
func (w *world) made(text string) shoal.FileID {
	w.t.Helper()
	at := filePath.FindStringSubmatch(text)
	if at == nil {
		w.t.Fatalf("no file is named in %s", text)
	}
	return shoal.FileID(at[1])
}

// mayRead checks which entities may read a file and which may not.
func (w *world) mayRead(file shoal.FileID, who shoal.EntityID, may bool) {
	w.t.Helper()
	as := shoal.Principal{Role: shoal.RoleEntity, SessionID: session, EntityID: who}
	_, data, err := w.hub.Files.Get(w.t.Context(), as, session, file)
	if may && (err != nil || len(data) == 0) || !may && !errors.Is(err, shoal.NotFound) {
		w.t.Errorf("%s reads %d bytes of %s, %v", who, len(data), file, err)
	}
}

func (w *world) stranger() {
	w.t.Helper()
	_, err := w.hub.Entities.Create(w.t.Context(), admin, session, shoal.NewEntity{ID: "eve", Kind: shoal.Human}, "")
	w.must(err)
}

// An image that a tool makes is a file of this server, for the members of the space
// that shows the call.
func TestGeneratedImages(t *testing.T) {
	w := newWorld(t)
	w.stranger()
	w.shopkeeper(script.PerTurn(calls(call("c1", "draw", `{"targetSpaceId":"shop","prompt":"a lamp"}`)), silent), painter(t, dot(t, 1)))
	id := w.says("Draw a lamp.")
	w.reaches(id, shoal.RunCompleted)
	shown := strings.Join(w.timeline("shop"), "")
	if !strings.HasPrefix(shown, `bot completed | draw{"prompt":"a lamp"} done {"success":true,"provider":"openai","model":"m","images":[{"url":"/v1/sessions/default/files/`) {
		t.Fatalf("the shop shows %s", shown)
	}
	file := w.made(shown)
	w.mayRead(file, "ann", true)
	w.mayRead(file, "bot", true)
	w.mayRead(file, "eve", false)
	f, data, err := w.hub.Files.Get(t.Context(), ann, session, file)
	w.must(err)
	if f.Name != "draw.png" || f.MediaType != "image/png" || !bytes.Equal(data, dot(t, 1)) || f.Size != int64(len(data)) {
		t.Errorf("the file is %+v", f)
	}
}

// One that was made out of sight is the agent's alone until it names it in a space:
// in a text, or in what it gives a display tool. It shows only what it made itself.
func TestGeneratedImagesReferencedLater(t *testing.T) {
	w := newWorld(t)
	w.stranger()
	url := func(id shoal.FileID) string { return shoal.FilePath(session, id) }
	theirs, err := w.hub.Files.Upload(t.Context(), shoal.Principal{Role: shoal.RoleEntity, SessionID: session, EntityID: "eve"}, session,
		shoal.File{Name: "a", MediaType: "image/png"}, dot(t, 1), url, "")
	w.must(err)
	var unnamed atomic.Pointer[string]
	w.shopkeeper(script.Func(func(req *agent.Request) script.Answer {
		results := req.Messages[len(req.Messages)-1].Results()
		switch {
		case len(results) == 0:
			return calls(call("c1", "sketch", `{"prompt":"a lamp"}`))
		case results[0].CallID == "c1":
			path := filePath.FindString(results[0].Text)
			unnamed.Store(&path)
			return calls(send("c2", "Here it is: "+path+". And "+theirs.URL))
		}
		return silent
	}), painter(t, dot(t, 1)))
	w.reaches(w.says("Draw a lamp."), shoal.RunCompleted)
	file := w.made(*unnamed.Load())
	w.mayRead(file, "ann", true)
	w.mayRead(file, "eve", false)
	w.mayRead(theirs.ID, "ann", false)
	w.mayRead(theirs.ID, "bot", false)

	w.shopkeeper(script.PerTurn(calls(call("c3", "sketch", `{"prompt":"a lamp"}`)), silent), painter(t, dot(t, 1)))
	id := w.says("Keep it.")
	w.reaches(id, shoal.RunCompleted)
	w.mayRead(w.made(w.results(id)[0]), "ann", false)
	w.mayRead(w.made(w.results(id)[0]), "bot", true)
}

// posts says something with files as ann, and returns the run that this starts.
func (w *world) posts(text string, mediaType string, files ...[]byte) shoal.RunID {
	w.t.Helper()
	parts := []shoal.Part{shoal.Text(text)}
	for i, data := range files {
		f, err := w.hub.Files.Upload(w.t.Context(), ann, session, shoal.File{Name: fmt.Sprintf("%d.png", i+1), MediaType: mediaType}, data,
			func(id shoal.FileID) string { return shoal.FilePath(session, id) }, "")
		w.must(err)
		parts = append(parts, shoal.Part{Type: shoal.FilePart, Name: f.Name, MediaType: f.MediaType, Size: f.Size, URL: f.URL})
	}
	before := len(w.runs())
	_, err := w.hub.Messages.Post(w.t.Context(), ann, session, "shop", shoal.Draft{Parts: parts}, "")
	w.must(err)
	if n := len(w.runs()); n != before+1 {
		w.t.Fatalf("%d runs begin, want 1", n-before)
	}
	for _, r := range w.runs() {
		if !r.Status.Ended() {
			return r.ID
		}
	}
	w.t.Fatal("no run is under way")
	return ""
}

// pictures are the names of those that a request holds, with the texts that name them
// in.
func pictures(req *agent.Request) (names []string) {
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if p.Type == agent.FilePart {
				names = append(names, fmt.Sprintf("%s %s %d %s", p.File.Name, p.File.MediaType, len(p.File.Data), p.File.URL))
			}
		}
	}
	return names
}

// A model sees the pictures that people post: those of the trigger and of what came
// before, four at most, those of the newest messages, and none that a vendor would
// refuse. Their names are in the request.
func TestPicturesForModels(t *testing.T) {
	w := newWorld(t)
	asked := make(chan *agent.Request, 10)
	w.shopkeeper(script.Func(func(req *agent.Request) script.Answer { asked <- req; return silent }), "")
	small, wide := dot(t, 1), dot(t, 2)
	n := func(name string, data []byte) string { return fmt.Sprintf("%s image/png %d ", name, len(data)) }

	w.reaches(w.posts("Look.", "image/png", small, []byte("<svg>"), dot(t, 9000), append(dot(t, 1), make([]byte, 5<<20)...), wide), shoal.RunCompleted)
	req := <-asked
	if got, want := strings.Join(pictures(req), "|"), n("1.png", small)+"|"+n("5.png", wide); got != want {
		t.Errorf("the model sees %s, want %s", got, want)
	}
	if told := req.Messages[len(req.Messages)-1].Text(); strings.Count(told, `<part>{"id":`) != 5 || !strings.Contains(told, `"name":"3.png"`) {
		t.Errorf("the model receives %s", told)
	}
	w.reaches(w.posts("And these.", "image/png", wide, wide, wide), shoal.RunCompleted)
	if got, want := strings.Join(pictures(<-asked), "|"), strings.Join([]string{n("1.png", small), n("1.png", wide), n("2.png", wide), n("3.png", wide)}, "|"); got != want {
		t.Errorf("later it sees %s, want %s", got, want)
	}
	w.reaches(w.posts("A text.", "text/plain", small), shoal.RunCompleted)
	if got := pictures(<-asked); len(got) != 4 {
		t.Errorf("a file that says it is a text is shown: %v", got)
	}
	for _, r := range w.runs() {
		if len(r.Turn) > 64<<10 {
			t.Errorf("%d bytes are stored of a turn", len(r.Turn))
		}
	}
}

// A model that refuses pictures receives their names; any other refusal is one.
func TestPicturesForModelsThatRefuseThem(t *testing.T) {
	w := newWorld(t)
	var asked atomic.Int64
	w.shopkeeper(script.Func(func(req *agent.Request) script.Answer {
		if asked.Add(1); len(pictures(req)) > 0 {
			return script.Answer{Err: &agent.ModelError{Class: agent.ClassInvalid, Provider: "script", Detail: "no pictures"}}
		}
		return calls(send("c", "I cannot see it."))
	}), `"loop":{"maxSteps":1},"reply":"tool"`)
	w.reaches(w.posts("Look.", "image/png", dot(t, 1)), shoal.RunFailed) // of max_steps
	w.shows("shop", "bot failed | I cannot see it.",
		"system completed @[ann] | bot could not answer (max_steps): The turn used all of its 1 steps. Ask again for less at once, or raise loop.maxSteps of the agent.")
	if n := asked.Load(); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
}

// An agent that has left the space does not see its pictures any more, in the same
// run already.
func TestPicturesOfASpaceThatTheAgentHasLeft(t *testing.T) {
	w := newWorld(t)
	asked := make(chan int, 10)
	w.shopkeeper(script.Func(func(req *agent.Request) script.Answer {
		asked <- len(pictures(req))
		if len(asked) == 2 {
			return silent
		}
		if _, err := w.hub.Spaces.Leave(context.Background(), ann, session, "shop", "bot"); err != nil {
			return script.Answer{Err: err}
		}
		return calls(call("c1", "getMyRuns", `{}`))
	}), "")
	w.reaches(w.posts("Look.", "image/png", dot(t, 1)), shoal.RunCompleted)
	if before, after := <-asked, <-asked; before != 1 || after != 0 {
		t.Errorf("the model sees %d pictures before and %d after", before, after)
	}
}
