package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/shoal-dev/shoal/internal/wholefile"
)

// maxRefs bounds how many conversations are remembered; the ones unused the longest are forgotten.
const maxRefs = 1000

// ref is how a coding agent finds a conversation again. It means something only to that agent, in
// that directory of this machine, so it is kept here and not on the server.
type ref struct {
	Ref  string    `json:"ref"`
	Kind string    `json:"kind"`
	Dir  string    `json:"dir"`
	Used time.Time `json:"used"`
	// Marks are the runs whose messages the agent was given last.
	Marks []mark `json:"marks,omitempty"`
}

// refs are the refs of all conversations, in a file.
type refs struct {
	path string
	mu   sync.Mutex
	all  map[string]map[string]ref // by agent and conversation
}

// openRefs reads the file, which need not exist.
func openRefs(path string) (*refs, error) {
	r := &refs{path: path, all: map[string]map[string]ref{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r.all)
	}
	if err != nil {
		return nil, fmt.Errorf("read the conversations of the coding agents: %w; remove %s to begin all of them anew", err, path)
	}
	return r, nil
}

// get returns the ref of a conversation of an agent of that kind in that directory, or "".
func (r *refs) get(c conversation, kind, dir string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known(c, kind, dir).Ref
}

// known must be called with mu held.
func (r *refs) known(c conversation, kind, dir string) ref {
	if found := r.all[c.agent][c.name]; found.Kind == kind && found.Dir == dir {
		return found
	}
	return ref{Kind: kind, Dir: dir}
}

// store stores what is known of a conversation. It must be called with mu held.
func (r *refs) store(c conversation, one ref) error {
	one.Used = time.Now().UTC()
	if r.all[c.agent] == nil {
		r.all[c.agent] = map[string]ref{}
	}
	r.all[c.agent][c.name] = one
	r.trim()
	return r.save(c)
}

// forget forgets a conversation that its agent does not find any more.
func (r *refs) forget(c conversation) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all[c.agent], c.name)
	return r.save(c)
}

// save writes the file after a change of c. It must be called with mu held.
func (r *refs) save(c conversation) error {
	text, err := json.MarshalIndent(r.all, "", "  ")
	if err == nil {
		err = wholefile.Replace(r.path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("remember the conversation of %s: %w", c.agent, err)
	}
	return nil
}

// trim forgets what is too much. It must be called with mu held.
func (r *refs) trim() {
	count := 0
	var agent, name string
	var oldest time.Time
	for a, all := range r.all {
		for n, one := range all {
			if count++; oldest.IsZero() || one.Used.Before(oldest) {
				agent, name, oldest = a, n, one.Used
			}
		}
	}
	if count > maxRefs {
		delete(r.all[agent], name)
	}
}
