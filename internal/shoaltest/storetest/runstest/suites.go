// Package runstest specifies how a store keeps hosted agents and their runs.
package runstest

import "github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"

// Suites are the tests of this package.
var Suites = []storecase.Suite{
	{Name: "hosted agents", Tests: agentTests},
	{Name: "runs", Tests: runTests},
	{Name: "claims", Tests: claimTests},
	{Name: "remote runs", Tests: remoteTests},
	{Name: "steps", Tests: stepTests},
	{Name: "requests", Tests: requestTests},
	{Name: "conversations", Tests: conversationTests},
	{Name: "pending actions", Tests: pendingTests},
	{Name: "remembered decisions", Tests: rememberedTests},
	{Name: "plans", Tests: planTests},
	{Name: "notes", Tests: noteTests},
	{Name: "usage", Tests: usageTests},
	{Name: "retention", Tests: retentionTests},
}
