package hub_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// twoServers are two hubs on one store without a bus between them: what happens on
// one reaches the other through the store alone.
func twoServers(t *testing.T) (one, other *hub.Hub) {
	t.Helper()
	store := shoaltest.OpenSQLite(t)
	one = shop(t, func(o *hub.Options) { o.Store = store })
	other = hub.New(hub.Options{Store: store, Bus: localbus.New()})
	must(t, other.Start(context.Background()))
	t.Cleanup(other.Stop)
	return one, other
}

// waitNow returns the texts that bot's wait finds at once, and its cursor. Its answer
// is written.
func waitNow(t *testing.T, h *hub.Hub, ack string) (texts []string, cursor string) {
	t.Helper()
	got, err := h.Inbox.Wait(context.Background(), bot, mentions(0, ack))
	must(t, err)
	got.Written()
	return textsOf(got), cursorOf(got)
}

func textsOf(d *inbox.Delivery) (texts []string) {
	for _, it := range d.Result.Items {
		for _, m := range it.Messages {
			texts = append(texts, m.Message.Parts[0].Text)
		}
	}
	return texts
}

func cursorOf(d *inbox.Delivery) string {
	if d.Result.Cursor == nil {
		return ""
	}
	return *d.Result.Cursor
}

// A key that acknowledges explicitly on one server does so on every other.
func TestExplicitAcknowledgmentOnAnotherServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, other := twoServers(t)
		_, err := say(one, "first")
		must(t, err)
		_, first := waitNow(t, one, "")
		_, err = say(one, "second")
		must(t, err)
		if got, _ := waitNow(t, one, ""); len(got) != 1 || got[0] != "second" {
			t.Fatalf("the second wait returns %q", got)
		}
		waitNow(t, other, first)
		if got, _ := waitNow(t, one, ""); len(got) != 1 || got[0] != "second" {
			t.Errorf("a message that was not acknowledged is gone: the next wait returns %q", got)
		}
	})
}

// A wait whose time is up reads its inbox once more: the hint of another server may
// never have come.
func TestTimeoutReadsOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, other := twoServers(t)
		answer := make(chan *inbox.Delivery, 1)
		go func() {
			got, err := one.Inbox.Wait(context.Background(), bot, mentions(time.Minute, ""))
			if err != nil {
				t.Error(err)
			}
			answer <- got
		}()
		synctest.Wait()
		_, err := say(other, "hello")
		must(t, err)
		if got := <-answer; got == nil || got.Result.TimedOut || len(textsOf(got)) != 1 {
			t.Errorf("the wait ends with %+v", got)
		}
	})
}
