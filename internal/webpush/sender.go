package webpush

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/push"
)

const (
	interval = 2 * time.Second
	// sendTimeout is how long one push service may take.
	sendTimeout = 10 * time.Second
	// atOnce is how many notifications are sent at the same time.
	atOnce = 8
	// keep is how long a push service keeps a notification for a browser that is off, in seconds.
	keep = "86400"
)

// errGone is the error of a subscription that its push service does not know any more.
var errGone = errors.New("the push service does not know the subscription")

// Options are the dependencies of a [Sender].
type Options struct {
	Hub *hub.Hub
	// Client reaches push services, whose addresses the browsers of people name: it must refuse
	// whatever they are not to reach.
	Client *http.Client
	// Contact is where the operator of a push service finds that of this server: a URL.
	Contact string
	Log     *slog.Logger
}

// Sender sends what the hub has to notify people of.
type Sender struct {
	Options
	name   string
	signer *signer
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// New returns a sender. Call Start before anything is sent.
func New(o Options) *Sender { return &Sender{Options: o, name: rand.Text()} }

// Start starts sending. Stop ends it.
func (s *Sender) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	s.done.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			if err := s.round(ctx); err != nil && ctx.Err() == nil {
				s.Log.Error("notifications were not sent; the next try follows", "interval", interval, "error", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
}

// Stop ends sending, and returns when nothing is being sent. It may be called without Start.
func (s *Sender) Stop() {
	if s.stop != nil {
		s.stop()
	}
	s.done.Wait()
}

// round sends everything that is due.
func (s *Sender) round(ctx context.Context) error {
	for more := true; more; {
		var due []push.Outgoing
		var err error
		if due, more, err = s.Hub.Push.Claim(ctx, s.name); err != nil || len(due) == 0 {
			return err
		}
		if s.signer == nil {
			key, err := s.Hub.Push.Key(ctx)
			if err != nil {
				return err
			}
			if s.signer, err = newSigner(key, s.Contact); err != nil {
				return err
			}
		}
		s.sendAll(ctx, due)
	}
	return nil
}

// sendAll sends notifications and returns when each was accepted or has failed.
func (s *Sender) sendAll(ctx context.Context, all []push.Outgoing) {
	var sending sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for _, o := range all {
		free <- struct{}{}
		sending.Go(func() {
			defer func() { <-free }()
			err := s.send(ctx, o)
			if errors.Is(err, errGone) {
				err = s.Hub.Push.Drop(ctx, o.Session, o.ID)
			}
			if err != nil && ctx.Err() == nil {
				s.Log.Warn("a notification was not sent", "subscription", o.ID, "error", err)
			}
		})
	}
	sending.Wait()
}

// send sends one notification. The error names no endpoint, which is a secret of the browser.
func (s *Sender) send(ctx context.Context, o push.Outgoing) error {
	text, err := shoal.EncodeJSON(o.Notice)
	if err != nil {
		return err
	}
	body, err := encrypt(o.Target, text)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.Target.Endpoint, bytes.NewReader(body))
	if err != nil {
		return errors.New("its endpoint is not a URL")
	}
	proof, err := s.signer.authorization(req.URL, time.Now())
	if err != nil {
		return err
	}
	// Of notifications with one topic the service keeps the last; it is at most 32 characters.
	topic := sha256.Sum256([]byte(o.Notice.Tag))
	for name, value := range map[string]string{
		"Authorization": proof, "Content-Encoding": "aes128gcm", "Content-Type": "application/octet-stream", "TTL": keep, "Urgency": "high",
		"Topic": base64.RawURLEncoding.EncodeToString(topic[:24]),
	} {
		req.Header.Set(name, value)
	}
	res, err := s.Client.Do(req)
	if err != nil {
		return fmt.Errorf("the push service %s: %w", req.URL.Hostname(), inner(err))
	}
	_, _ = io.CopyN(io.Discard, res.Body, 4<<10) // so that the connection can be used again
	_ = res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusGone:
		return errGone
	case res.StatusCode/100 != 2:
		return fmt.Errorf("the push service %s answered %d", req.URL.Hostname(), res.StatusCode)
	}
	return nil
}

// inner returns what an error of a client wraps: its own text repeats the URL.
func inner(err error) error {
	if e := errors.Unwrap(err); e != nil {
		return e
	}
	return err
}
