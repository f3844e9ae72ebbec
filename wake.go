package shoal

import (
	"fmt"
	"regexp"
	"time"
)

// Bounds of a wake lease.
const (
	// MinWakeLease and MaxWakeLease are how long a wake lease may last; its holder renews it at a
	// third of that.
	MinWakeLease = time.Second
	MaxWakeLease = 60 * time.Second
	// MaxWakeLeases is how many wake leases an agent may have, one for each session of its coding
	// agent. One more ends the lease that would end first.
	MaxWakeLeases = 4
	// KeyExpiresSoon is how long before its end the key of an agent is announced as expiring.
	KeyExpiresSoon = 72 * time.Hour
)

// Wake is how a mention reaches an agent now. Via, Harness, Runner, Since and Until are those of the
// lease or wait that reaches it; each is nil if there is none. Until is when that ends unless it is
// renewed, or, of an agent of which the server does not know yet, when it does. LastSeenAt is the last call of the agent, or renewal of a lease. Text says the same for
// people, as what follows the name of the agent, and Reason what hinders it, if anything does.
type Wake struct {
	State      ReachState `json:"state"`
	Via        *string    `json:"via"`
	Harness    *string    `json:"harness"`
	Runner     *string    `json:"runner"`
	Since      *Time      `json:"since"`
	Until      *Time      `json:"until"`
	LastSeenAt *Time      `json:"lastSeenAt"`
	Reason     string     `json:"reason"`
	Text       string     `json:"text"`
	// Proof is what came of the last test, nil if it was never tested.
	Proof *WakeProof `json:"proof"`
}

// WakeProof is what came of the last test whether a mention wakes an agent. Ms is the time from the
// message to the answer, or to the end of a test without one, and Steps what happened in between.
type WakeProof struct {
	At       Time       `json:"at"`
	Answered bool       `json:"answered"`
	Ms       int64      `json:"ms"`
	Steps    []WakeStep `json:"steps"`
}

// WakeStep is a step of a test, delivered, resumed or answered, with the time since the message.
type WakeStep struct {
	Step string `json:"step"`
	Ms   int64  `json:"ms"`
}

// String says what came of the test and when, for people.
func (p WakeProof) String() string {
	at := Roughly(time.Since(p.At.Time)) + " ago"
	if !p.Answered {
		return "not answered in a test " + at
	}
	return fmt.Sprintf("answered in a test %s, after %d ms", at, p.Ms)
}

// WakeTest names the message of a test, whose text [WakeTestText] returned, and the message with
// which the agent answered it, empty if it has not.
type WakeTest struct {
	MessageID  MessageID `json:"messageId"`
	AnsweredBy MessageID `json:"answeredBy,omitempty"`
}

// Validate names every wrong field in one [InvalidArgument] error.
func (t WakeTest) Validate() error {
	var p problems
	p.add(CheckID("messageId", string(t.MessageID)))
	if t.AnsweredBy != "" {
		p.add(CheckID("answeredBy", string(t.AnsweredBy)))
	}
	return p.err()
}

// wakeTest is how the text of a test begins.
var wakeTest = regexp.MustCompile(`^\[wake test ([A-Za-z0-9]{4,32})\] `)

// WakeTestText returns the text of a test: it asks for a code of 4 to 32 letters and digits, and for a
// mention of the one who tests.
func WakeTestText(code string, by EntityID) string {
	return fmt.Sprintf("[wake test %s] Answer with exactly %s, and mention %s.", code, code, by)
}

// WakeTestCode returns the code that a text asks for, if it is that of a test.
func WakeTestCode(text string) (code string, ok bool) {
	found := wakeTest.FindStringSubmatch(text)
	if found == nil {
		return "", false
	}
	return found[1], true
}

// WakeLease is the promise of a program to wake the model of an agent when a message arrives, for
// example of a hook of a coding agent or of a runner. Via names the kind of program, Harness the
// coding agent, Runner the machine, and SessionRef what is woken, in the program's own words; all but
// Via may be empty. A program that renews its lease sends the same Via and SessionRef. Busy says that
// the model is at work and gets a message afterwards. The lease ends after TTLMs, by default
// [MaxWakeLease].
type WakeLease struct {
	Via        string `json:"via"`
	Harness    string `json:"harness,omitempty"`
	Runner     string `json:"runner,omitempty"`
	SessionRef string `json:"sessionRef,omitempty"`
	TTLMs      int64  `json:"ttlMs,omitempty"`
	Busy       bool   `json:"busy,omitempty"`
}

// Validate names every wrong field in one [InvalidArgument] error.
func (l WakeLease) Validate() error {
	var p problems
	p.add(CheckID("via", l.Via))
	if l.Via == ViaWait || l.Via == ViaHosted {
		p.add(Invalid("via", fmt.Sprintf("must not be %q: it names the program that wakes, such as claude-hook", l.Via)))
	}
	if l.Harness != "" {
		p.add(CheckID("harness", l.Harness))
	}
	if l.Runner != "" {
		p.add(CheckID("runner", l.Runner))
	}
	p.add(checkLine("sessionRef", l.SessionRef, MaxName, false))
	if l.TTLMs != 0 && (l.TTLMs < MinWakeLease.Milliseconds() || l.TTLMs > MaxWakeLease.Milliseconds()) {
		p.add(Invalid("ttlMs", fmt.Sprintf("must be from %d to %d", MinWakeLease.Milliseconds(), MaxWakeLease.Milliseconds())))
	}
	return p.err()
}

// TTL returns how long the lease lasts.
func (l WakeLease) TTL() time.Duration {
	if l.TTLMs == 0 {
		return MaxWakeLease
	}
	return time.Duration(l.TTLMs) * time.Millisecond
}

// Holder returns the program as people name it: "runner ada-mbp", or "claude-hook".
func (l WakeLease) Holder() string {
	if l.Runner == "" {
		return l.Via
	}
	return l.Via + " " + l.Runner
}
