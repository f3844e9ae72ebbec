package shoaltest

import (
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest"
)

// Fill is [storetest.Fill].
func Fill(t *testing.T, store storage.Store, id shoal.SessionID) { storetest.Fill(t, store, id) }

// InboxesBehind is [storetest.InboxesAfter].
func InboxesBehind(before, text string) string { return storetest.InboxesAfter(before, text) }
