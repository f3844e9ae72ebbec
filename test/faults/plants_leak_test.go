package faults

// leakBugs are bugs that leak resources.
var leakBugs = []named{
	{"a wait leaks a goroutine", "the goroutine ends with the process"},
	{"a call leaves a file open", "one call in ten opens a file and does not close it"},
	{"a response stays in memory", "every response is kept"},
}

func leakPlants() []plant {
	return []plant{
		{
			"internal/httpapi/inbox.go",
			"\tdelivery, on, err := c.Hub.Inbox.WaitShortly(c.ctx(), c.caller, req, c.Pool.After())\n",
			`	if rigHas("a wait leaks a goroutine") {
		go func() { select {} }()
	}
	delivery, on, err := c.Hub.Inbox.WaitShortly(c.ctx(), c.caller, req, c.Pool.After())
`,
		},
		{
			"internal/httpapi/call.go",
			"\tc.began = time.Now()\n",
			`	c.began = time.Now()
	if rigHas("a call leaves a file open") {
		rigOpen()
	}
`,
		},
		{
			"internal/httpapi/call.go",
			"\th[\"Content-Type\"] = []string{mediaType}\n",
			`	h["Content-Type"] = []string{mediaType}
	if rigHas("a response stays in memory") {
		rigKeep(body)
	}
`,
		},
	}
}

// rigLeaks contains the functions of the leaks in package httpapi.
const rigLeaks = `package httpapi

import (
	"os"
	"sync"
)

var rigKept struct {
	sync.Mutex
	calls   int
	files   []*os.File
	answers [][]byte
}

// rigOpen opens a file in every tenth call: a process can open only a few thousand.
func rigOpen() {
	rigKept.Lock()
	defer rigKept.Unlock()
	if rigKept.calls++; rigKept.calls%10 > 0 {
		return
	}
	if file, err := os.Open(os.DevNull); err == nil {
		rigKept.files = append(rigKept.files, file)
	}
}

func rigKeep(answer []byte) {
	rigKept.Lock()
	defer rigKept.Unlock()
	rigKept.answers = append(rigKept.answers, answer)
}
`
