package audit

import "fmt"

// Problem is a place at which a chain is broken: the records From to To.
type Problem struct {
	From int64  `json:"from"`
	To   int64  `json:"to"`
	What string `json:"what"`
}

// Verifier checks a chain whose records it is given from the newest to the oldest. It needs
// constant memory. The zero value is not valid; see [NewVerifier].
type Verifier struct {
	expected Head // of the next record; its hash is empty if it is unknown
	count    int64
	problem  *Problem // the one with the lowest number, which is found last
	problems int64
	noted    Head
}

// NewVerifier returns a Verifier of the chain that ends with head. noted is a head that was noted
// earlier, which must be in the chain; zero means none.
func NewVerifier(head, noted Head) *Verifier {
	v := &Verifier{expected: head, noted: noted}
	if noted.Seq > head.Seq {
		v.report(head.Seq+1, noted.Seq, "removed at the end: the chain was longer when its head was noted")
	}
	return v
}

// Next checks the next older record.
func (v *Verifier) Next(r Record) {
	switch {
	case r.Seq > v.expected.Seq:
		v.report(r.Seq, r.Seq, "not part of the chain: its head or the next record has another number")
		v.expected = Head{Seq: r.Seq}
	case r.Seq < v.expected.Seq:
		v.reportRemoved(r.Seq+1, v.expected.Seq)
		v.expected = Head{Seq: r.Seq}
	}
	v.count++
	hash, err := r.computeHash()
	intact := err == nil && hash == r.Hash
	switch {
	case !intact:
		v.report(r.Seq, r.Seq, "altered: its content does not have its hash")
	case v.expected.Hash != "" && v.expected.Hash != r.Hash:
		v.report(r.Seq, r.Seq, "replaced: the record after it, or the head, contains another hash")
	case v.noted.Seq == r.Seq && v.noted.Hash != r.Hash:
		v.report(r.Seq, r.Seq, "replaced: it had another hash when the head was noted")
	}
	v.expected = Head{Seq: r.Seq - 1}
	if intact {
		v.expected.Hash = r.PrevHash
	}
}

// End ends the check and returns the broken place with the lowest number, nil for a chain that is
// intact, how many places are broken, and how many records the chain has.
func (v *Verifier) End() (first *Problem, places, records int64) {
	if v.expected.Seq > 0 {
		v.reportRemoved(1, v.expected.Seq)
	}
	return v.problem, v.problems, v.count
}

func (v *Verifier) reportRemoved(from, to int64) {
	what := "removed"
	if v.count == 0 {
		what = "removed at the end: the head of the chain is a later record"
	}
	v.report(from, to, what)
}

func (v *Verifier) report(from, to int64, what string) {
	v.problem = &Problem{from, to, what}
	v.problems++
}

// String describes the problem in a sentence.
func (p Problem) String() string {
	if p.From == p.To {
		return fmt.Sprintf("Record %d was %s.", p.From, p.What)
	}
	return fmt.Sprintf("Records %d to %d were %s.", p.From, p.To, p.What)
}
