package release_test

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Somebody unpacks the archive and goes on.
func TestTheArchiveIsAllThatIsNeeded(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	archive := artifactOf(t, "archive")
	name := strings.TrimSuffix(filepath.Base(archive), ".tar.gz")
	m.adopt(t, archive, "/tmp/shoal.tar.gz")
	must(t, m.shell(t, "cd && tar -xzf /tmp/shoal.tar.gz"))
	for _, file := range []string{"LICENSE", "README.md", "THIRD-PARTY-LICENSES.txt", "shoal"} {
		if info, err := os.Stat(m.path(filepath.Join(home, name, file))); err != nil || info.Size() == 0 {
			t.Errorf("%s is missing from the archive: %v", file, err)
		}
	}
	i := installedAt(m, home+"/"+name+"/shoal")
	i.describesItself(t)
	if printed := must(t, m.shell(t, home+"/"+name+"/shoal version --licenses")); strings.TrimSpace(printed) != strings.TrimSpace(read(t, m.path(filepath.Join(home, name, "THIRD-PARTY-LICENSES.txt")))) {
		t.Errorf("the program and the archive have other notices; the program begins with %.200q", printed)
	}
	t.Logf("first page after %v", i.firstOrder(t))
}

// Two builds of the same files are equal to the byte, wherever, under whatever umask,
// time zone and flags of the go command they happen.
func TestTwoBuildsAreIdentical(t *testing.T) {
	t.Parallel()
	out, _ := secondBuild(t)
	first, second := checksums(t, dist(t)), checksums(t, out)
	delete(second, "SHA256SUMS.minisig")
	if len(first) < 10 {
		t.Errorf("the release has %d files only: %q", len(first), first)
	}
	for name, sum := range first {
		if second[name] != sum {
			t.Errorf("%s differs between two builds", name)
		}
		delete(second, name)
	}
	if len(second) != 0 {
		t.Errorf("the second build has more files: %v", second)
	}
}

var second struct {
	once      sync.Once
	dir, keys string
}

// secondBuild builds the release once more, from a copy of the repository and under other
// circumstances, and signs it with keys/release. Tests share it.
func secondBuild(t *testing.T) (dir, keys string) {
	t.Helper()
	second.once.Do(func() {
		scratch := filepath.Dir(dist(t))
		second.keys, second.dir = filepath.Join(scratch, "keys"), filepath.Join(scratch, "second")
		if err := os.Mkdir(second.keys, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"release", "other"} {
			newSigningKey(t, filepath.Join(second.keys, name))
		}
		c := releaseCommand(copyOfRepository(t), second.dir, "-sign", filepath.Join(second.keys, "release"))
		again := exec.CommandContext(bounded(t), "sh", append([]string{"-c", `umask 077 && exec "$0" "$@"`}, c.Args...)...)
		again.Env = append(os.Environ(), "TZ=Asia/Kathmandu", "LC_ALL=C", "GOFLAGS=-mod=mod", "GOAMD64=v2", "SOURCE_DATE_EPOCH=1", "SHOAL_SIGNING_PASSWORD="+signingPassword)
		must(t, again)
	})
	if _, err := os.Stat(filepath.Join(second.dir, "SHA256SUMS.minisig")); err != nil {
		t.Fatalf("the second build has failed: %v", err)
	}
	return second.dir, second.keys
}

// copyOfRepository copies what git knows and what it would add. Its history is that
// of the original.
func copyOfRepository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	git := exec.CommandContext(bounded(t), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	git.Dir = repository
	for name := range strings.SplitSeq(strings.TrimSuffix(must(t, git), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(repository, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, name), string(content), 0o644)
	}
	where := exec.CommandContext(bounded(t), "git", "rev-parse", "--absolute-git-dir")
	where.Dir = repository
	write(t, filepath.Join(root, ".git"), "gitdir: "+must(t, where), 0o644)
	modules, err := filepath.Abs(filepath.Join(repository, "web", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(root, "web", "node_modules")); err != nil {
		t.Fatal(err)
	}
	return root
}

// checksums returns the checksum of each file in a directory.
func checksums(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, entry := range entries {
		sums[entry.Name()] = fmt.Sprintf("%x", sha256.Sum256([]byte(read(t, filepath.Join(dir, entry.Name())))))
	}
	return sums
}

// SHA256SUMS has every file of the release, and release.json says the same.
func TestChecksumsCoverEverything(t *testing.T) {
	t.Parallel()
	sums := checksums(t, dist(t))
	for line := range strings.Lines(read(t, filepath.Join(dist(t), "SHA256SUMS"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if sums[name] != sum {
			t.Errorf("SHA256SUMS says %s of %s, which has %s", sum, name, sums[name])
		}
		delete(sums, name)
	}
	delete(sums, "SHA256SUMS")
	if len(sums) != 0 {
		t.Errorf("SHA256SUMS does not list %v", sums)
	}
	all := checksums(t, dist(t))
	for _, a := range released(t).Artifacts {
		info, err := os.Stat(filepath.Join(dist(t), a.File))
		if err != nil || info.Size() != a.Size || all[a.File] != a.SHA256 {
			t.Errorf("release.json is wrong about %+v: %v", a, err)
		}
	}
}

// A version that the package managers would not sort, and files that nobody else has,
// make no release.
func TestWhatIsNotARelease(t *testing.T) {
	t.Parallel()
	for _, v := range []string{"", "1.2", "v1.2.3", "1.2.3+x", "1.02.3", "1.2.3-rc_1"} {
		printed, code := ran(t, exec.CommandContext(bounded(t), built.tool, "-root", repository, "-out", t.TempDir(), "-version", v))
		if code != 1 || !strings.Contains(printed, "make release VERSION=1.2.3") {
			t.Errorf("version %q exits with %d: %s", v, code, printed)
		}
	}
	printed, code := ran(t, exec.CommandContext(bounded(t), built.tool, "-root", repository, "-version", version, "-targets", "plan9/mips"))
	if code != 1 || !strings.Contains(printed, "freebsd/arm64") {
		t.Errorf("an unknown target exits with %d: %s", code, printed)
	}
	root := copyOfRepository(t)
	write(t, filepath.Join(root, "left.txt"), "not committed", 0o644)
	printed, code = ran(t, exec.CommandContext(bounded(t), built.tool, "-root", root, "-out", t.TempDir(), "-version", version))
	if code != 1 || !strings.Contains(printed, "left.txt") {
		t.Errorf("files that are not committed exit with %d: %s", code, printed)
	}
}

// The list of components has exactly the modules that the program says it is built from, and
// what the console is bundled of; the notices have the licence texts of all.
func TestEveryComponentIsListedWithItsLicence(t *testing.T) {
	t.Parallel()
	var list struct {
		BOMFormat, SpecVersion, SerialNumber string
		Metadata                             struct{ Component struct{ Version string } }
		Components                           []struct {
			Name, Version, PURL string
			Licenses            []struct{ Expression string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, artifactOf(t, "sbom"))), &list); err != nil {
		t.Fatal(err)
	}
	if list.BOMFormat != "CycloneDX" || list.Metadata.Component.Version != version || len(list.SerialNumber) != len("urn:uuid:")+36 {
		t.Errorf("the list is %s %s %s of version %s", list.BOMFormat, list.SpecVersion, list.SerialNumber, list.Metadata.Component.Version)
	}
	notices := fromArchive(t, "THIRD-PARTY-LICENSES.txt")
	listed, fromGo := map[string]bool{}, map[string]bool{}
	for _, c := range list.Components {
		listed[c.Name+" "+c.Version] = true
		if strings.HasPrefix(c.PURL, "pkg:golang/") {
			fromGo[c.PURL] = true
		}
		label := strings.TrimSuffix(c.Name+" "+c.Version, " "+strings.TrimPrefix(runtime.Version(), "go"))
		if !strings.Contains(notices, "\n"+label+": ") || !strings.HasPrefix(c.PURL, "pkg:") || len(c.Licenses) != 1 || c.Licenses[0].Expression == "" {
			t.Errorf("%s (%q) has the licences %v, or no text", label, c.PURL, c.Licenses)
		}
	}
	info, err := buildinfo.Read(strings.NewReader(fromArchive(t, "shoal")))
	if err != nil {
		t.Fatal(err)
	}
	linked := map[string]bool{"pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"): true}
	for _, m := range info.Deps {
		if m.Replace == nil { // a module of the repository
			linked["pkg:golang/"+m.Path+"@"+m.Version] = true
		}
	}
	if len(linked) < 30 || !maps.Equal(linked, fromGo) {
		t.Errorf("the program says that it is built from\n%q\nthe list has\n%q", slices.Sorted(maps.Keys(linked)), slices.Sorted(maps.Keys(fromGo)))
	}
	var console struct{ Dependencies map[string]string }
	if err := json.Unmarshal([]byte(read(t, filepath.Join(repository, "web/package.json"))), &console); err != nil {
		t.Fatal(err)
	}
	for name, v := range console.Dependencies {
		if !listed[name+" "+v] {
			t.Errorf("%s %s is part of the console, but not listed", name, v)
		}
	}
}

// fromArchive reads a file of the archive.
func fromArchive(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(artifactOf(t, "archive"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(unzipped); ; {
		head, err := archive.Next()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if filepath.Base(head.Name) == name {
			content, err := io.ReadAll(archive)
			if err != nil {
				t.Fatal(err)
			}
			return string(content)
		}
	}
}
