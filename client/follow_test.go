package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// event is one event on the wire.
func event(id int) string {
	return fmt.Sprintf("id: %d\nevent: message.created\ndata: {\"n\":%d}\n\n", id, id)
}

// stream starts a stream and returns the number of the event that it resumes after, 0
// at the start.
func stream(w http.ResponseWriter, r *http.Request) int {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	after, _ := strconv.Atoi(r.Header.Get("Last-Event-ID"))
	say(w, ": welcome\n\n")
	return after
}

// follow takes n events of the space shop and returns their numbers.
func follow(w *world, n int, o client.FollowOptions) (got []int, err error) {
	for e, err := range w.client.Session("default").Follow(w.Context(), o) {
		if err != nil {
			return got, err
		}
		var data struct{ N int }
		if err := json.Unmarshal(e.Data, &data); err != nil {
			return got, err
		}
		if e.Type != shoal.EventMessageCreated || string(e.Cursor) != strconv.Itoa(data.N) {
			w.Errorf("event %+v holds %s", e, e.Data)
		}
		if got = append(got, data.N); len(got) == n {
			break
		}
	}
	return got, err
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// A connection that breaks after every few bytes, anywhere, loses no event and repeats
// none.
func TestFollowResumesAfterTheLastWholeEvent(t *testing.T) {
	const events = 40
	for _, step := range []int{47, 50, 61, 101} {
		connections := 0
		handler := func(w http.ResponseWriter, r *http.Request) {
			connections++
			var rest strings.Builder
			for id := stream(w, r) + 1; id <= events; id++ {
				rest.WriteString(event(id))
			}
			say(w, rest.String()[:min(rest.Len(), step)])
			if connections%2 == 0 {
				cut() // else the stream ends in order
			}
		}
		inWorld(t, handler, func(w *world) {
			began := time.Now()
			got, err := follow(w, events, client.FollowOptions{Space: "shop"})
			if took := time.Since(began); took > time.Duration(connections)*250*time.Millisecond {
				w.Errorf("%d connections took %v: a server that speaks is come back to at once", connections, took)
			}
			if err != nil || !slices.Equal(got, upTo(events)) {
				w.Errorf("cut after %d bytes: got %v, %v", step, got, err)
			}
			if connections < 10 {
				w.Errorf("%d connections: nothing was cut", connections)
			}
		})
	}
}

func TestFollowBeginsBehindTheGivenCursor(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/sessions/default/events" || r.Header.Get("Accept") != "text/event-stream" {
			t.Errorf("%s with Accept %q", r.URL, r.Header.Get("Accept"))
		}
		say(w, event(stream(w, r)+1))
		<-r.Context().Done()
	}
	inWorld(t, handler, func(w *world) {
		if got, err := follow(w, 1, client.FollowOptions{After: "41"}); err != nil || !slices.Equal(got, []int{42}) {
			w.Errorf("got %v, %v, want event 42", got, err)
		}
	})
}

// Connections die silently. A stream without even a comment for 45 s is one of
// them; one with comments is not.
func TestFollowLeavesASilentConnection(t *testing.T) {
	connections := 0
	handler := func(w http.ResponseWriter, r *http.Request) {
		connections++
		after := stream(w, r)
		if connections == 1 {
			for range 8 { // two minutes with comments
				<-time.After(15 * time.Second)
				say(w, ":\n\n")
			}
		}
		say(w, event(after+1))
		<-r.Context().Done()
	}
	inWorld(t, handler, func(w *world) {
		began := time.Now()
		got, err := follow(w, 2, client.FollowOptions{Space: "shop"})
		if err != nil || !slices.Equal(got, upTo(2)) || connections != 2 {
			w.Fatalf("got %v, %v over %d connections", got, err, connections)
		}
		if took := time.Since(began); took < 165*time.Second || took > 166*time.Second {
			w.Errorf("took %v, want 120 s with comments and 45 s of silence", took)
		}
	})
}

// A slow reader does not count as a silent server.
func TestASlowReaderKeepsItsConnection(t *testing.T) {
	connections := 0
	handler := func(w http.ResponseWriter, r *http.Request) {
		connections++
		say(w, event(stream(w, r)+1))
		<-time.After(time.Second)
		say(w, event(2))
		<-r.Context().Done()
	}
	inWorld(t, handler, func(w *world) {
		n := 0
		for _, err := range w.client.Session("default").Follow(w.Context(), client.FollowOptions{Space: "shop"}) {
			if err != nil {
				w.Fatal(err)
			}
			if n++; n == 2 {
				break
			}
			<-time.After(10 * time.Minute)
		}
		if connections != 1 {
			w.Errorf("%d connections", connections)
		}
	})
}

func TestFollowOutlivesTheServersRestart(t *testing.T) {
	handler := inTurn(
		func(w http.ResponseWriter, r *http.Request) { stream(w, r); say(w, event(1)) },
		func(w http.ResponseWriter, _ *http.Request) { answer(w, 503, `{"code":"busy"}`) },
		func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "9"); answer(w, 429, `{}`) },
		func(w http.ResponseWriter, _ *http.Request) { answer(w, 502, `<h1>Bad gateway</h1>`) },
		func(w http.ResponseWriter, _ *http.Request) { answer(w, 500, `{"code":"internal"}`) },
		func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		func(w http.ResponseWriter, r *http.Request) { say(w, event(stream(w, r)+1)) },
	)
	inWorld(t, handler, func(w *world) {
		var lost []error
		time.AfterFunc(time.Millisecond, func() { w.pipes.down.Store(true) })
		time.AfterFunc(time.Hour, func() { w.pipes.down.Store(false) })
		got, err := follow(w, 2, client.FollowOptions{Space: "shop", OnDisconnect: func(cause error) { lost = append(lost, cause) }})
		if err != nil || !slices.Equal(got, upTo(2)) {
			w.Fatalf("got %v, %v", got, err)
		}
		// An hour at 4 to 8 s each, and the answers above.
		if len(lost) < 450 || len(lost) > 920 || !errors.Is(lost[0], client.ErrUnreachable) {
			w.Errorf("got %d calls of Lost, first: %v; want 450 to 920, with ErrUnreachable", len(lost), lost[0])
		}
	})
}

func TestFollowEndsWithAFinalAnswer(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		kind   shoal.Kind
	}{
		{401, `{"code":"unauthenticated"}`, shoal.Unauthenticated},
		{403, `{"code":"identity_mismatch"}`, shoal.IdentityMismatch},
		{404, `{"code":"not_found"}`, shoal.NotFound},
		{422, `{"code":"invalid_argument"}`, shoal.InvalidArgument},
		{200, `{}`, shoal.Internal}, // no stream: no Shoal server
	} {
		handler := inTurn(
			func(w http.ResponseWriter, r *http.Request) { stream(w, r); say(w, event(1)) },
			func(w http.ResponseWriter, _ *http.Request) { answer(w, c.status, c.body) },
			func(http.ResponseWriter, *http.Request) { t.Errorf("%d: asked again", c.status) },
		)
		inWorld(t, handler, func(w *world) {
			got, err := follow(w, 9, client.FollowOptions{Space: "shop"})
			if shoal.KindOf(err) != c.kind || !slices.Equal(got, upTo(1)) {
				w.Errorf("%d: got %v, %v, want %s", c.status, got, err, c.kind)
			}
		})
	}
}

func TestFollowOfNoServerEnds(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.pipes.down.Store(true)
		w.client = w.hasty
		if _, err := follow(w, 1, client.FollowOptions{}); !errors.Is(err, client.ErrUnreachable) || w.pipes.dialed.Load() != 5 {
			w.Errorf("error = %v after %d tries", err, w.pipes.dialed.Load())
		}
	})
}

func TestFollowEndsWithItsContext(t *testing.T) {
	hang := func(w http.ResponseWriter, r *http.Request) { stream(w, r); <-r.Context().Done() }
	end := func(w http.ResponseWriter, r *http.Request) { stream(w, r) }
	for name, handler := range map[string]http.HandlerFunc{"in a stream": hang, "between two": end} {
		inWorld(t, handler, func(w *world) {
			ctx, cancel := context.WithTimeout(w.Context(), 100*time.Millisecond)
			defer cancel()
			for e, err := range w.client.Session("default").Follow(ctx, client.FollowOptions{Space: "shop"}) {
				w.Errorf("%s: got %+v, %v", name, e, err)
			}
			if ctx.Err() == nil {
				w.Errorf("%s: ended before its context", name)
			}
		})
	}
}

// Leaving the loop ends the request on the server.
func TestLeavingFollowClosesTheConnection(t *testing.T) {
	closed := make(chan struct{}, 1)
	handler := func(w http.ResponseWriter, r *http.Request) {
		say(w, event(stream(w, r)+1))
		<-r.Context().Done()
		closed <- struct{}{}
	}
	inWorld(t, handler, func(w *world) {
		closed = make(chan struct{}, 1)
		if _, err := follow(w, 1, client.FollowOptions{Space: "shop"}); err != nil {
			w.Fatal(err)
		}
		select {
		case <-closed:
		case <-time.After(time.Second):
			w.Error("the server still writes to a reader that has left")
		}
	})
}

// The snapshots of several spaces arrive one by one. A stream cannot resume after the
// first: the second would be missing for good.
func TestFollowDoesNotResumeInTheMiddleOfSnapshots(t *testing.T) {
	snapshot := func(space string) string {
		return "id: 7\nevent: snapshot\ndata: {\"spaceId\":\"" + space + "\"}\n\n"
	}
	var resumed []string
	handler := func(w http.ResponseWriter, r *http.Request) {
		resumed = append(resumed, r.Header.Get("Last-Event-ID"))
		stream(w, r)
		say(w, snapshot("a"))
		if len(resumed) > 1 {
			say(w, snapshot("b")+"id: 7\nevent: snapshot.end\ndata: {}\n\n")
		}
	}
	inWorld(t, handler, func(w *world) {
		var seen []string
		for e, err := range w.client.Session("default").Follow(w.Context(), client.FollowOptions{}) {
			if err != nil {
				w.Fatal(err)
			}
			if len(resumed) == 3 {
				break
			}
			seen = append(seen, string(e.Type)+string(e.Data))
		}
		if !slices.Equal(resumed, []string{"", "", "7"}) || len(seen) != 4 {
			w.Errorf("resumed after %q, got events %q", resumed, seen)
		}
	})
}

// A user interface learns when the connection is lost and when it is back, each time
// before the events of that connection.
func TestFollowReportsItsConnection(t *testing.T) {
	connections := 0
	handler := func(w http.ResponseWriter, r *http.Request) {
		if connections++; connections == 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		say(w, event(stream(w, r)+1))
	}
	inWorld(t, handler, func(w *world) {
		var calls []string
		o := client.FollowOptions{
			OnDisconnect: func(error) { calls = append(calls, "lost") }, OnConnect: func() { calls = append(calls, "back") },
		}
		for _, err := range w.client.Session("default").Follow(w.Context(), o) {
			if err != nil {
				w.Fatal(err)
			}
			if calls = append(calls, "event"); len(calls) >= 6 {
				break
			}
		}
		if got := strings.Join(calls, " "); got != "back event lost lost back event" {
			w.Errorf("got calls %q", got)
		}
	})
}
