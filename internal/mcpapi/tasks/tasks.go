// Package tasks keeps the tasks of one server: waits whose clients ask about them instead of keeping a
// request open. A task has no messages. Its result is read when the client asks for it, so a task that is
// forgotten, or that another server has, loses nothing.
package tasks

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/mcpapi/tools"
)

// Status is how far a task is.
type Status string

// The states of tasks. All but Working are final.
const (
	Working   Status = "working"
	Completed Status = "completed"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

const (
	// Most is how many tasks a caller has at most, as many as open waits. One more forgets the oldest that
	// has ended, or cancels the oldest.
	Most = shoal.MaxOpenWaits
	// MostInAll bounds the tasks of all callers.
	MostInAll = 10_000
	// MaxArguments bounds the bytes of the arguments of a task.
	MaxArguments = 4 << 10
	// DefaultTTL is how long a task is kept from its beginning: no wait is longer than 10 min.
	DefaultTTL = 15 * time.Minute
	// MaxTTL is the longest that a client can ask for.
	MaxTTL = time.Hour
	// poll is how often a client should ask.
	poll = time.Second
)

// ErrCancelled is the cause that ends the wait of a task that is canceled or forgotten.
var ErrCancelled = errors.New("the task was canceled")

// State is what a client is shown of a task.
type State struct {
	ID           string     `json:"taskId"`
	Status       Status     `json:"status"`
	Message      string     `json:"statusMessage,omitempty"`
	CreatedAt    shoal.Time `json:"createdAt"`
	UpdatedAt    shoal.Time `json:"lastUpdatedAt"`
	TTL          int64      `json:"ttl"`          // in milliseconds
	PollInterval int64      `json:"pollInterval"` // in milliseconds
}

// Task is one task.
type Task struct {
	// Tool and Arguments are the call that the task is.
	Tool      *tools.Tool
	Arguments []byte

	registry *Registry
	owner    tools.Caller
	cancel   context.CancelCauseFunc
	timer    *time.Timer
	done     chan struct{} // closed when the task has ended
	state    State         // guarded by registry.mu
}

// Registry keeps tasks. It is safe for concurrent use.
type Registry struct {
	mu    sync.Mutex
	each  map[tools.Caller][]*Task // the oldest first
	count int
}

// Begin adds a task of a caller that is kept for ttl, DefaultTTL if it is zero, at most MaxTTL. cancel ends
// its wait, also when the task is forgotten. It fails with TooManyWaiters if the server has too many.
func (r *Registry) Begin(owner tools.Caller, t *tools.Tool, arguments []byte, ttl time.Duration, cancel context.CancelCauseFunc) (*Task, error) {
	if ttl <= 0 {
		ttl = DefaultTTL
	}
	ttl = min(ttl, MaxTTL)
	now := shoal.Now()
	x := &Task{
		Tool: t, Arguments: arguments, registry: r, owner: owner, cancel: cancel, done: make(chan struct{}),
		state: State{ID: shoal.NewID[string]("task_"), Status: Working, CreatedAt: now, UpdatedAt: now, TTL: ttl.Milliseconds(), PollInterval: poll.Milliseconds()},
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if own := r.each[owner]; len(own) >= Most {
		r.forget(own[max(0, slices.IndexFunc(own, func(x *Task) bool { return x.state.Status != Working }))])
	}
	if r.count >= MostInAll {
		return nil, shoal.E("tasks", shoal.TooManyWaiters, "The server has too many tasks. Call the tool without a task, or try again later.")
	}
	if r.each == nil {
		r.each = map[tools.Caller][]*Task{}
	}
	r.each[owner] = append(r.each[owner], x)
	r.count++
	x.timer = time.AfterFunc(ttl, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.forget(x)
	})
	return x, nil
}

// forget removes a task, and cancels it if it is working. It must be called with mu held.
func (r *Registry) forget(x *Task) {
	own := r.each[x.owner]
	i := slices.Index(own, x)
	if i < 0 {
		return
	}
	x.end(Cancelled, "")
	x.timer.Stop()
	r.count--
	if own = slices.Delete(own, i, i+1); len(own) == 0 {
		delete(r.each, x.owner)
		return
	}
	r.each[x.owner] = own
}

// end makes a task what it is at its end, and ends its wait. It must be called with mu held, and changes
// nothing if the task has ended.
func (x *Task) end(status Status, message string) {
	if x.state.Status != Working {
		return
	}
	x.state.Status, x.state.Message, x.state.UpdatedAt = status, message, shoal.Now()
	x.cancel(ErrCancelled)
	close(x.done)
}

// End reports that the wait of a task has ended. It changes nothing if the task has.
func (x *Task) End(status Status, message string) {
	x.registry.mu.Lock()
	defer x.registry.mu.Unlock()
	x.end(status, message)
}

// Done returns a channel that is closed when the task has ended.
func (x *Task) Done() <-chan struct{} { return x.done }

// State returns what a client is shown of the task.
func (x *Task) State() State {
	x.registry.mu.Lock()
	defer x.registry.mu.Unlock()
	return x.state
}

// Get returns a task of a caller. It returns nil for an id that the caller does not have here.
func (r *Registry) Get(owner tools.Caller, id string) *Task {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.get(owner, id)
}

func (r *Registry) get(owner tools.Caller, id string) *Task {
	own := r.each[owner]
	if i := slices.IndexFunc(own, func(x *Task) bool { return x.state.ID == id }); i >= 0 {
		return own[i]
	}
	return nil
}

// List returns the tasks of a caller, the oldest first.
func (r *Registry) List(owner tools.Caller) []State {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []State{}
	for _, x := range r.each[owner] {
		out = append(out, x.state)
	}
	return out
}

// Cancel cancels a task of a caller. It returns the task, or nil as Get does, and whether it was working.
func (r *Registry) Cancel(owner tools.Caller, id string) (x *Task, worked bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x = r.get(owner, id); x != nil && x.state.Status == Working {
		x.end(Cancelled, "")
		worked = true
	}
	return x, worked
}

// Stop forgets all tasks.
func (r *Registry) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, own := range r.each {
		for _, x := range slices.Clone(own) {
			r.forget(x)
		}
	}
}
