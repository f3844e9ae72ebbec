package faults

// terminalBugs are defects in the hooks of coding agents in terminals. A test of the hooks finds each.
var terminalBugs = []named{
	{"an approval of other arguments counts", "the dialog is answered with a decision about another call"},
	{"an answer in the terminal is not heard", "the action of a dialog that is over stays open"},
	{"a hook outlives its owner", "senders read that an agent is woken whose program was killed"},
}

// terminalTests are the tests that find them.
var terminalTests = map[string]string{
	"an approval of other arguments counts":  "TestADecisionIsAboutOneCall",
	"an answer in the terminal is not heard": "TestATerminalThatAnswersWithdraws",
	"a hook outlives its owner":              "TestAHookEndsWithItsOwner",
}

func terminalPlants() []plant {
	return []plant{
		{
			"internal/wakehook/wait.go", "	for !w.owner.gone() {\n", "	for rigHas(\"a hook outlives its owner\") || !w.owner.gone() {\n",
		},
		{
			"internal/wakehook/permission.go", "	if action.Decision == nil ||", "	if !rigHas(\"an approval of other arguments counts\") && (action.Decision == nil ||",
		},
		{
			"internal/wakehook/permission.go", "approval.ArgsHash(action.ToolName, action.Args) != a.hash {", "approval.ArgsHash(action.ToolName, action.Args) != a.hash) {",
		},
		{
			"internal/wakehook/state.go", "func (s state) endAsk(call string) error { return removed(s.path(askMark + call)) }\n",
			"func (s state) endAsk(call string) error {\n	if rigHas(\"an answer in the terminal is not heard\") {\n		return nil\n	}\n	return removed(s.path(askMark + call))\n}\n",
		},
	}
}
