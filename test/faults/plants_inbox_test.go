package faults

// inboxBugs are defects in how inboxes are stored. The random courses of the store's tests
// find them.
var inboxBugs = []named{
	{"a range is folded over a gap", "a message that nobody acknowledged counts as read"},
	{"an acknowledged mention comes again after a fold", "moving a position opens an entry again"},
	{"a composite message that completes late is skipped", "its arrival is that of its seq, below the positions"},
	{"the messages since the last stride are not counted as own", "the count of unread messages is too high"},
}

func inboxPlants() []plant {
	return []plant{
		{
			"internal/sqlstore/readranges/readranges.go", "		if o.Last < next.First-1 {\n",
			"		if o.Last < next.First-rigEither(int64(2), 1, rigHas(\"a range is folded over a gap\")) {\n",
		},
		{
			"internal/sqlstore/coresql/ack.go", "	return t.storePosition(session, entity, w, max(to, w.upTo), own, acked, ranges)\n",
			`	if rigHas("an acknowledged mention comes again after a fold") {
		if _, err := t.c.Exec("UPDATE inbox_entries SET acked_at = 0 WHERE session_id = $1 AND entity_id = $2 AND space_id = $3 AND acked_at <> 0 AND arrival = $4", session, entity, w.space, to); err != nil {
			return err
		}
	}
	return t.storePosition(session, entity, w, max(to, w.upTo), own, acked, ranges)
`,
		},
		{
			"internal/sqlstore/coresql/places.go", "		p.arrival = last + 1\n",
			"		p.arrival = rigEither(m.Seq, last+1, rigHas(\"a composite message that completes late is skipped\"))\n",
		},
		{
			"internal/sqlstore/coresql/positions.go", "w.end() - w.upTo - w.own - w.tail - w.acked }",
			"w.end() - w.upTo - w.own - rigEither(0, w.tail, rigHas(\"the messages since the last stride are not counted as own\")) - w.acked }",
		},
	}
}
