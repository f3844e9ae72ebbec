// Package coretest specifies how a store keeps sessions, participants, spaces, messages,
// inboxes, events, keys and files.
package coretest

import "github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"

// Suites are the tests of this package.
var Suites = []storecase.Suite{
	{Name: "sessions", Tests: sessionTests},
	{Name: "entities", Tests: entityTests},
	{Name: "spaces", Tests: spaceTests},
	{Name: "members", Tests: memberTests},
	{Name: "messages", Tests: messageTests},
	{Name: "composite messages", Tests: composedTests},
	{Name: "erased messages", Tests: eraseTests},
	{Name: "erased entities", Tests: personTests},
	{Name: "edited messages", Tests: editTests},
	{Name: "inbox", Tests: inboxTests},
	{Name: "receipts", Tests: receiptTests},
	{Name: "queries", Tests: queryTests},
	{Name: "search", Tests: searchTests},
	{Name: "events", Tests: eventTests},
	{Name: "keys", Tests: keyTests},
	{Name: "invitations", Tests: inviteTests},
	{Name: "OAuth", Tests: oauthTests},
	{Name: "runners", Tests: runnerTests},
	{Name: "answers", Tests: answerTests},
	{Name: "files", Tests: fileTests},
	{Name: "renderers", Tests: rendererTests},
}
