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

// twoServers returns two hubs on one store without a bus between them: changes on one reach
// the other only through the store.
func twoServers(t *testing.T) (one, other *hub.Hub) {
	t.Helper()
	store := shoaltest.OpenSQLite(t)
	one = shop(t, func(o *hub.Options) { o.Store = store })
	other = hub.New(hub.Options{Store: store, Bus: localbus.New()})
	must(t, other.Start(context.Background()))
	t.Cleanup(other.Stop)
	return one, other
}

// waitNow returns the texts that a wait of bot returns at once, and its cursor, and marks
// the response as written.
func waitNow(t *testing.T, h *hub.Hub, ack string) (texts []string, cursor string) {
	t.Helper()
	got, err := h.Inbox.Wait(context.Background(), bot, mentions(0, ack))
	must(t, err)
	got.Settle(true)
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
			t.Fatalf("the second wait returned %q, want \"second\"", got)
		}
		waitNow(t, other, first)
		if got, _ := waitNow(t, one, ""); len(got) != 1 || got[0] != "second" {
			t.Errorf("the next wait returned %q, want the unacknowledged message \"second\"", got)
		}
	})
}

// A wait reads its inbox once more at its time-out, because a notification of another
// server may have been lost.
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
			t.Errorf("the wait ended with %+v, want one message", got)
		}
	})
}
