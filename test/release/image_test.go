package release_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// descriptor refers to a blob of an OCI layout.
type descriptor struct {
	Digest      string
	Annotations map[string]string
	Platform    struct{ OS, Architecture string }
}

// imageConfig is what the image says about how it is run.
type imageConfig struct {
	OS, Architecture string
	Config           struct {
		User, StopSignal     string
		Env, Entrypoint, Cmd []string
		Volumes              map[string]any
		Healthcheck          struct{ Test []string }
		Labels               map[string]string
	}
}

// unpackImage lays out the file system of the image for this platform.
func unpackImage(t *testing.T) (root string, config imageConfig) {
	t.Helper()
	layout := t.TempDir()
	must(t, exec.CommandContext(bounded(t), "tar", "-xf", artifactOf(t, "image"), "-C", layout))
	blob := func(d descriptor) string {
		return filepath.Join(layout, "blobs", strings.ReplaceAll(d.Digest, ":", "/"))
	}
	decode := func(name string, into any) {
		t.Helper()
		if err := json.Unmarshal([]byte(read(t, name)), into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	var index, platforms struct{ Manifests []descriptor }
	decode(filepath.Join(layout, "index.json"), &index)
	if len(index.Manifests) != 1 || index.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != version {
		t.Fatalf("the layout has %+v", index.Manifests)
	}
	decode(blob(index.Manifests[0]), &platforms)
	at := slices.IndexFunc(platforms.Manifests, func(d descriptor) bool {
		return d.Platform.OS == "linux" && d.Platform.Architecture == runtime.GOARCH
	})
	if at < 0 {
		t.Fatalf("the image is for %+v", platforms.Manifests)
	}
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	decode(blob(platforms.Manifests[at]), &manifest)
	decode(blob(manifest.Config), &config)
	root = t.TempDir()
	for _, layer := range manifest.Layers {
		must(t, exec.CommandContext(bounded(t), "tar", "-xpzf", blob(layer), "-C", root))
	}
	return root, config
}

// The image holds the program and what it needs, and runs as nobody's user.
func TestImage(t *testing.T) {
	t.Parallel()
	root, config := unpackImage(t)
	c := config.Config
	if c.User != "65532:65532" || c.StopSignal != "SIGTERM" || c.Volumes["/data"] == nil || !slices.Equal(c.Entrypoint, []string{"/shoal"}) || !slices.Equal(c.Cmd, []string{"serve"}) {
		t.Errorf("the image is run as %+v", c)
	}
	m := released(t)
	if c.Labels["org.opencontainers.image.version"] != version || c.Labels["org.opencontainers.image.revision"] != m.Commit {
		t.Errorf("its labels are %v", c.Labels)
	}
	if authorities := strings.Count(read(t, filepath.Join(root, "etc/ssl/certs/ca-certificates.crt")), "BEGIN CERTIFICATE"); authorities < 100 {
		t.Errorf("it trusts %d authorities", authorities)
	}
	// The server listens on a free port of this machine; all else is as the image says.
	env := slices.Concat(c.Env, []string{"SHOAL_ADDR=127.0.0.1:0"})
	i := installed{
		machine: machine{root: root, env: env}, user: 65532, shoal: c.Entrypoint, serve: slices.Concat(c.Entrypoint, c.Cmd),
		keyFile: filepath.Join(root, "data/operator.key"),
	}
	i.describesItself(t)
	i.firstOrder(t)
	url, _ := i.start(t)
	must(t, i.command(t, i.user, slices.Concat(c.Healthcheck.Test[1:], []string{"--url", url})...))
	if left := i.files(t, "/tmp"); len(left) != 0 {
		t.Errorf("files are left: %q", left)
	}
	if _, err := os.Stat(filepath.Join(root, "bin")); !os.IsNotExist(err) {
		t.Errorf("the image has other programs: %v", err)
	}
}

// The Dockerfile and the image of the release are run alike.
func TestTheImageIsThatOfTheDockerfile(t *testing.T) {
	t.Parallel()
	_, config := unpackImage(t)
	text := read(t, filepath.Join(repository, "packaging", "Dockerfile"))
	for _, want := range []string{
		"ENV " + strings.Join(config.Config.Env[:2], " "), "STOPSIGNAL " + config.Config.StopSignal,
		`CMD ["` + strings.Join(config.Config.Healthcheck.Test[1:], `", "`) + `"]`, `ENTRYPOINT ["` + config.Config.Entrypoint[0] + `"]`,
		"--interval=30s --timeout=6s --start-period=10s",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the Dockerfile has no %s", want)
		}
	}
}
