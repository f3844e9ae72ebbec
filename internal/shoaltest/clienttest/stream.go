package clienttest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/shoaltest/faultproxy"
)

// Every reader has the stored text in the end, and never another beginning of it, however
// often its connection is reset in the middle of a word.
func textUnderCuts(t *testing.T, command []string) {
	const readers, cuts = 10, 20
	s, key := Hosted(t)
	var proxies []*faultproxy.Proxy
	args := []string{"watch", s.URL, s.Agent("reader"), "clerk"}
	for range readers {
		p := faultproxy.New(t, "tcp", strings.TrimPrefix(s.URL, "http://"))
		proxies = append(proxies, p)
		args = append(args, "http://"+p.Addr())
	}
	enough := func() bool {
		return !slices.ContainsFunc(proxies, func(p *faultproxy.Proxy) bool { return p.Cuts() < cuts })
	}
	d := drive(t, command, args...)
	c, err := client.New(client.Options{URL: s.URL, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- c.Session(shoal.DefaultSession).Serve(ctx, "clerk", client.ServeOptions{}, func(ctx context.Context, w *client.Work) error {
			pace := time.NewTicker(20 * time.Millisecond) // a reader needs a moment to connect
			defer pace.Stop()
			for i := 0; !enough() && i < 8000; i++ {
				if err := w.Text(fmt.Sprintf("%d größer 🐟 ", i)); err != nil {
					return err
				}
				select {
				case <-pace.C:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			for _, p := range proxies {
				p.Heal()
			}
			return nil
		})
	}()
	run := Ask(t, s, "Write a story")
	reading := map[int]bool{} // a reader whose snapshot is cut starts again and resumes nothing
	d.next(func(l said) bool {
		reading[l.Reader] = l.Read > 0
		return len(reading) == readers
	})
	for _, p := range proxies {
		harm(p, 3000)
	}
	if r := ended(t, s, run, nil); r.Status != shoal.RunCompleted {
		t.Fatalf("the run is %s", r.Status)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	got := d.next(func(l said) bool { return l.Texts != nil })
	want, total := message(t, s, run).Text(), int64(0)
	for i, text := range got.Texts {
		if text != want {
			t.Errorf("reader %d has a text of %d bytes, want %d", i, len(text), len(want))
		}
		total += proxies[i].Cuts()
	}
	if len(got.Texts) != readers || total < readers*cuts {
		t.Errorf("%d readers, %d cuts; want %d and at least %d", len(got.Texts), total, readers, readers*cuts)
	}
	t.Logf("%d cuts, text of %d bytes", total, len(want))
}
