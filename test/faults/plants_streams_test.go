package faults

// streamBugs are defects in how followers on other servers receive what a run writes. The
// random courses of the hub's tests find them.
var streamBugs = []named{
	{"a gap between servers is not healed", "a follower stops at the first delta that the bus loses"},
	{"a takeover resets nothing", "followers keep text that the new executor does not continue"},
	{"a delta of an old owner is delivered", "what a paused server relays appears in the text of the new one"},
	{"a snapshot trusts an old owner", "a server that has lost a run shows its own text of it"},
}

func streamPlants() []plant {
	return []plant{
		{
			"internal/hub/feed/drafts.go", "	s.until = time.Now().Add(draftTime)\n",
			"	if rigHas(\"a gap between servers is not healed\") {\n		return\n	}\n	s.until = time.Now().Add(draftTime)\n",
		},
		{
			"internal/hub/runs/claims.go", "	if r.Status != shoal.RunRunning && !r.Remote {\n",
			"	if r.Status != shoal.RunRunning && !r.Remote || rigHas(\"a takeover resets nothing\") {\n",
		},
		{
			"internal/hub/feed/notifications.go", "	if n.Base >= f.bases[n.Key] {\n",
			"	if n.Base >= f.bases[n.Key] || rigHas(\"a delta of an old owner is delivered\") {\n",
		},
		{
			"internal/hub/live/lost.go", "	if run == \"\" {\n",
			"	if run == \"\" || rigHas(\"a snapshot trusts an old owner\") {\n",
		},
	}
}
