package filelock_test

import (
	"path/filepath"
	"testing"

	"github.com/shoal-dev/shoal/internal/filelock"
)

func TestOneHolderAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := filelock.Try(path)
	if err != nil || first == nil {
		t.Fatalf("the first attempt: %v, %v", first, err)
	}
	if second, err := filelock.Try(path); err != nil || second != nil {
		t.Errorf("while it is held: %v, %v", second, err)
	}
	if held, err := filelock.Held(path); err != nil || !held {
		t.Errorf("while it is held, Held = %v, %v", held, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if held, err := filelock.Held(path); err != nil || held {
		t.Errorf("after it was closed, Held = %v, %v", held, err)
	}
	again, err := filelock.Try(path)
	if err != nil || again == nil {
		t.Fatalf("after it was closed: %v, %v", again, err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	if _, err := filelock.Try(filepath.Join(path, "below a file")); err == nil {
		t.Error("a path that cannot be created returned no error")
	}
}
