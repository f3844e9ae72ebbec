// Package storetest is the conformance suite of [hub.Store]: what every implementation
// promises, as subtests.
package storetest

import (
	"slices"
	"testing"

	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/coretest"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/inboxtest"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/runstest"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// Exercise runs the suite. Every implementation must pass all of it.
//
// open opens a store on the database of t: an empty one in the first call, the same one in
// each further call with the same t, also while the first store is open. The store is an
// [io.Closer], and is closed when t ends unless the test has closed it.
func Exercise(t *testing.T, open func(t *testing.T) storage.Store) {
	suites := slices.Concat([]storecase.Suite{
		{Name: "update", Tests: updateTests},
		{Name: "view", Tests: viewTests},
		{Name: "records", Tests: recordTests},
		{Name: "nodes", Tests: nodeTests},
		{Name: "push", Tests: pushTests},
	}, coretest.Suites, inboxtest.Suites, runstest.Suites)
	for _, suite := range suites {
		t.Run(suite.Name, func(t *testing.T) {
			store := open(t)
			for name, test := range suite.Tests {
				t.Run(name, func(t *testing.T) { test(storecase.New(t, store)) })
			}
		})
	}
	for name, test := range reopenTests {
		t.Run("reopen/"+name, func(t *testing.T) {
			test(storecase.New(t, open(t)), func() *storecase.Case { return &storecase.Case{T: t, Store: open(t)} })
		})
	}
}
