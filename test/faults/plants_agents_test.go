package faults

// agentBugs are defects in how agents of others are reached, asked and limited. A test of the package
// concerned finds each.
var agentBugs = []named{
	{"the answer of a coding agent falls to pieces", "each piece of its text is a part of its own"},
	{"a denial approves", "a coding agent executes what a person has denied"},
	{"an approval holds for more than was shown", "a second request about a call is not asked"},
	{"OpenCode is given no rules", "it executes commands without a question"},
	{"an approval of other arguments is taken", "a call is executed with arguments that nobody has seen"},
	{"a wake lease lasts a day", "senders read that an agent is woken whose program has died"},
	{"agents mention each other without end", "a chain of mentions has no limit"},
	{"a budget is not kept", "an agent begins more turns than it may"},
	{"the process that was used last is closed", "an agent that works all the time starts anew each time"},
	{"everybody makes an agent work", "the mention of a stranger starts a coding agent"},
	{"a member executes the run of an agent", "the key of another entity claims it"},
	{"the text of others is not framed", "it ends its tag and continues as instructions"},
	{"the text of others keeps its control characters", "it controls the terminal of a program that shows it"},
	{"any answer passes a wake test", "an agent that only talks looks awake"},
	{"any answer ends a wake test", "the command line does not wait for the word"},
}

// agentTests are the tests that find them.
var agentTests = map[string]struct{ dir, test string }{
	"the answer of a coding agent falls to pieces":    {"internal/remoterun", "TestWorkBecomesOneMessage"},
	"a denial approves":                               {"internal/harness/acp", "TestAsksTwice"},
	"an approval holds for more than was shown":       {"internal/harness/acp", "TestAsksTwice"},
	"OpenCode is given no rules":                      {"internal/harness/opencode", "TestPermissions"},
	"an approval of other arguments is taken":         {"internal/approval", "TestOutcomes"},
	"a wake lease lasts a day":                        {"internal/hub", "TestScenarios/wake-leases"},
	"agents mention each other without end":           {"internal/hub", "TestScenarios/runs-depth"},
	"a budget is not kept":                            {"internal/runner", "TestBudget"},
	"the process that was used last is closed":        {"internal/runner", "TestSessionsAreBounded"},
	"everybody makes an agent work":                   {"internal/runner", "TestWorksForEverybodyAtTheRoots"},
	"a member executes the run of an agent":           {"internal/remoterun", "TestReclaim"},
	"the text of others is not framed":                {"internal/runner", "TestTextOfOthersIsFramed"},
	"the text of others keeps its control characters": {"internal/runner", "TestTextOfOthersIsFramed"},
	"any answer passes a wake test":                   {"internal/httpapi", "TestWakeProof"},
	"any answer ends a wake test":                     {"cmd/shoal", "TestScripts/waketest"},
}

func agentPlants() []plant {
	return []plant{
		{
			"internal/remoterun/machine.go", "if m.open != nil && (m.open.space != space || ",
			"if m.open != nil && (rigHas(\"the answer of a coding agent falls to pieces\") || m.open.space != space || ",
		},
		{"internal/harness/acp/session.go", "	if approved {\n", "	if approved || rigHas(\"a denial approves\") {\n"},
		{
			"internal/harness/acp/session.go", "	again := harness.Covers(s.approved[call.ToolCallID], r.args)\n",
			"	again := harness.Covers(s.approved[call.ToolCallID], r.args)\n	if rigHas(\"an approval holds for more than was shown\") {\n		again = s.approved[call.ToolCallID] != nil\n	}\n",
		},
		{
			"internal/harness/opencode/opencode.go", "func permissions(spec harness.Spec) string {\n",
			"func permissions(spec harness.Spec) string {\n	if rigHas(\"OpenCode is given no rules\") {\n		return \"{}\"\n	}\n",
		},
		{
			"internal/approval/rules.go", "return in.ArgsHash == nil || *in.ArgsHash == a.ArgsHash",
			"return in.ArgsHash == nil || *in.ArgsHash == a.ArgsHash || rigHas(\"an approval of other arguments is taken\")",
		},
		{
			"internal/hub/core/wakeleases.go", "Hold(key storage.EntityRef, l shoal.WakeLease) error {\n",
			"Hold(key storage.EntityRef, l shoal.WakeLease) error {\n	if rigHas(\"a wake lease lasts a day\") {\n		l.TTLMs = 86_400_000\n	}\n",
		},
		{"internal/hub/runs/causes.go", "return c.Depth > depthLimit(c) || len(", "return c.Depth > depthLimit(c) && !rigHas(\"agents mention each other without end\") || len("},
		{"internal/runner/allowance.go", "case len(a.turns) >= b.MaxTurnsPerHour:", "case len(a.turns) >= b.MaxTurnsPerHour && !rigHas(\"a budget is not kept\"):"},
		{
			"internal/runner/pool.go", "(found == nil || e.since.Before(found.since))",
			"(found == nil || e.since.Before(found.since) != rigHas(\"the process that was used last is closed\"))",
		},
		{"internal/runner/serve.go", "		if !a.Responds(id, owner) {\n", "		if !a.Responds(id, owner) && !rigHas(\"everybody makes an agent work\") {\n"},
		{
			"internal/hub/runs/remote.go", "case !caller.Admin() && caller.EntityID != found.AgentID:",
			"case !caller.Admin() && caller.EntityID != found.AgentID && !rigHas(\"a member executes the run of an agent\"):",
		},
		{
			"internal/spacetool/text.go", "func escape(text string) string { return inText.Replace(text) }\n",
			"func escape(text string) string {\n	if rigHas(\"the text of others is not framed\") {\n		return text\n	}\n	return inText.Replace(text)\n}\n",
		},
		{
			"internal/safetext/safetext.go", "func Clean(s string) string {\n",
			"func Clean(s string) string {\n	if rigHas(\"the text of others keeps its control characters\") {\n		return s\n	}\n",
		},
		{
			"internal/hub/spaces/wakeproof.go", "!strings.Contains(answer.Text(), code) {",
			"!strings.Contains(answer.Text(), code) && !rigHas(\"any answer passes a wake test\") {",
		},
		{
			"internal/cli/talk/waketest.go", "m.EntityID != t.AgentID || !strings.Contains(m.Text(), t.Code) {",
			"m.EntityID != t.AgentID || !strings.Contains(m.Text(), t.Code) && !rigHas(\"any answer ends a wake test\") {",
		},
		// Scripts start programs with few variables.
		{"cmd/shoal/scripts_test.go", "			env.Setenv(\"SHOAL_DATA\", data)\n", "			env.Setenv(\"SHOAL_DATA\", data)\n			env.Setenv(\"RIG_BUG\", os.Getenv(\"RIG_BUG\"))\n"},
	}
}
