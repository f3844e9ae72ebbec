package peer

import (
	"context"
	"flag"
	"io"
	"net/http"
	"sync"

	"github.com/shoal-dev/shoal/bench/driver"
)

// ServeFloor runs the smallest server that does the work of the hot paths:
//
//	GET  /readyz
//	POST /send?to=ID&topic=T   stores the body, then passes it to the wait of ID and the readers of T
//	GET  /wait?id=ID           blocks until there is a message for ID
//	GET  /events?topic=T       server-sent events
//	POST /refuse               answers 429
//
// It has no keys or checks, and a slow reader blocks it.
func ServeFloor(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("floor", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:0", "the `address` to listen on")
	path := flags.String("db", "", "the `file` of the database")
	if err := flags.Parse(args); err != nil {
		return err
	}
	log, err := openLedger(*path)
	if err != nil {
		return err
	}
	f := &floor{log: log, readers: map[string]map[chan []byte]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /send", f.send)
	mux.HandleFunc("GET /wait", f.wait)
	mux.HandleFunc("GET /events", f.events)
	mux.HandleFunc("POST /refuse", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
	return driver.Serve(ctx, *addr, mux)
}

type floor struct {
	log   *ledger
	boxes boxes[[]byte]

	mu      sync.RWMutex
	readers map[string]map[chan []byte]bool
}

// boxes holds a queue of undelivered messages for each id.
type boxes[T any] struct{ byID sync.Map }

func (b *boxes[T]) of(id string) chan T {
	box, _ := b.byID.LoadOrStore(id, make(chan T, 256))
	return box.(chan T)
}

func (f *floor) send(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = f.log.append(body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	query := r.URL.Query()
	if to := query.Get("to"); to != "" {
		f.boxes.of(to) <- body
	}
	if topic := query.Get("topic"); topic != "" {
		f.publish(topic, body)
	}
	w.WriteHeader(http.StatusCreated)
}

func (f *floor) wait(w http.ResponseWriter, r *http.Request) {
	select {
	case body := <-f.boxes.of(r.URL.Query().Get("id")):
		_, _ = w.Write(body) // the client may have disconnected
	case <-r.Context().Done():
	}
}

// publish encodes an event once for all readers.
func (f *floor) publish(topic string, body []byte) {
	event := append(append([]byte("data: "), body...), "\n\n"...)
	f.mu.RLock()
	defer f.mu.RUnlock()
	for reader := range f.readers[topic] {
		reader <- event
	}
}

// events writes events to one reader. Events that arrive meanwhile are flushed together.
func (f *floor) events(w http.ResponseWriter, r *http.Request) {
	topic, queue := r.URL.Query().Get("topic"), make(chan []byte, 1024)
	f.mu.Lock()
	if f.readers[topic] == nil {
		f.readers[topic] = map[chan []byte]bool{}
	}
	f.readers[topic][queue] = true
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.readers[topic], queue)
		f.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	for err := control.Flush(); err == nil; err = control.Flush() {
		select {
		case event := <-queue:
			_, err = w.Write(event)
		case <-r.Context().Done():
			return
		}
		for more := true; more && err == nil; {
			select {
			case event := <-queue:
				_, err = w.Write(event)
			default:
				more = false
			}
		}
		if err != nil {
			return
		}
	}
}
