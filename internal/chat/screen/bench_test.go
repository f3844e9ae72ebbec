package screen

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/chat/chattest"
)

// One frame while a long text streams below 200 messages. Thirty frames per second must be
// cheap.
func BenchmarkFrame(b *testing.B) {
	w, m := chattest.New(), newModel("ann", "shop", time.Now, time.UTC)
	m.width, m.height = 140, 50
	tell := func(line string) {
		events, err := w.Events(line)
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range events {
			if err := m.state.Apply(e); err != nil {
				b.Fatal(err)
			}
		}
	}
	for i := range 200 {
		tell(fmt.Sprintf("stored shop %d bot %q", i+1, strings.Repeat("some words of a message ", 12)))
	}
	tell("snapshot shop ann bot")
	tell("ready")
	m.state.Fill(nil)
	tell("begin shop 201 bot")
	tell("text shop 201 p1")
	m.Update(happened{})
	offset := 0
	for b.Loop() {
		if offset > 10_000 {
			tell("reset shop 201 p1 0")
			offset = 0
		}
		delta := "a few words more "
		tell(fmt.Sprintf("delta shop 201 p1 %d %q", offset, delta))
		offset += len(delta)
		m.Update(happened{})
		_ = m.View()
	}
}
