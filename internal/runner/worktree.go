package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// worktrees gives each conversation of an agent a working tree of its own, on a branch of its own.
// Nothing here removes one: it holds work.
type worktrees struct{ mu sync.Mutex } // git does not like two additions at once

// dir returns the directory of a conversation: that of dir in the working tree beside the
// repository, which it adds for a new conversation.
func (w *worktrees) dir(ctx context.Context, dir string, c conversation) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	root, prefix, err := repository(ctx, dir)
	if err != nil {
		return "", err
	}
	agent, name := plain(c.agent), plain(c.name)
	if strings.HasPrefix(c.name, "run:") {
		name = "runs"
	}
	tree, branch := filepath.Join(filepath.Dir(root), ".shoal", filepath.Base(root)+"-"+agent+"-"+name), "shoal/"+agent+"/"+name
	switch _, err := os.Stat(tree); {
	case err == nil:
		if err := sameRepository(ctx, root, tree); err != nil {
			return "", err
		}
		return filepath.Join(tree, prefix), nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	if _, err := git(ctx, root, "worktree", "prune"); err != nil { // one that somebody has deleted
		return "", err
	}
	add := []string{"worktree", "add", "-b", branch, tree}
	if _, err := git(ctx, root, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch); err == nil {
		add = []string{"worktree", "add", tree, branch}
	}
	if _, err := git(ctx, root, add...); err != nil {
		return "", err
	}
	return filepath.Join(tree, prefix), nil
}

// repository returns the root of the repository that a directory is in, and its place there.
func repository(ctx context.Context, dir string) (root, prefix string, err error) {
	if _, err := git(ctx, dir, "rev-parse", "--verify", "HEAD"); err != nil {
		return "", "", fmt.Errorf("%s is not in a git repository with a commit: %w", dir, err)
	}
	if root, err = git(ctx, dir, "rev-parse", "--show-toplevel"); err != nil {
		return "", "", err
	}
	prefix, err = git(ctx, dir, "rev-parse", "--show-prefix")
	return root, prefix, err
}

// sameRepository reports an error if tree is not a working tree of the repository.
func sameRepository(ctx context.Context, root, tree string) error {
	var common [2]string
	for i, at := range []string{root, tree} {
		dir, err := git(ctx, at, "rev-parse", "--path-format=absolute", "--git-common-dir")
		if err != nil {
			return fmt.Errorf("%s is in the way: %w", tree, err)
		}
		common[i] = dir
	}
	if common[0] != common[1] {
		return fmt.Errorf("%s is in the way: it is not a working tree of %s", tree, root)
	}
	return nil
}

// git runs git in a directory and returns what it prints.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

// plain makes an id a part of the name of a branch and of a directory. Different ids stay different.
func plain(id string) string {
	out := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			return c
		}
		return '-'
	}, id)
	if out == id && !strings.HasPrefix(out, "-") {
		return out
	}
	sum := sha256.Sum256([]byte(id))
	return "x" + out + "-" + hex.EncodeToString(sum[:4])
}
