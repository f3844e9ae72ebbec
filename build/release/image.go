package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// imageUser runs the server in the image: nobody's number, as in other minimal images.
const imageUser = 65532

// writeImage writes an OCI layout of an image for each Linux binary into one tar file,
// which `docker load`, `podman load` and `skopeo copy oci-archive:…` read.
func (r *release) writeImage(context.Context) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	added := 0
	for _, b := range r.binaries {
		if b.os != "linux" {
			continue
		}
		image, err := r.image(b)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: b.os, Architecture: b.arch}},
		})
		added++
	}
	if added == 0 {
		return nil
	}
	dir := filepath.Join(r.scratch(), "image")
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	named := layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": r.version,
		"io.containerd.image.name":          "shoal-dev/shoal:" + r.version,
	})
	if err := path.AppendIndex(index, named); err != nil {
		return err
	}
	content, err := tarOf(os.DirFS(dir), r.date)
	if err != nil {
		return err
	}
	return r.add("image", target{os: "linux"}, "shoal_"+r.version+"_image.tar", content)
}

func (r *release) image(b binary) (v1.Image, error) {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	base, err := layer(baseFiles(), r.date)
	if err != nil {
		return nil, err
	}
	program, err := layer([]*entry{
		{name: "shoal", mode: 0o755, content: b.content},
		{name: "licenses/", mode: 0o755},
		{name: "licenses/THIRD-PARTY-LICENSES.txt", mode: 0o644, content: r.notices},
	}, r.date)
	if err != nil {
		return nil, err
	}
	if image, err = mutate.AppendLayers(image, base, program); err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = b.os, b.arch, v1.Time{Time: r.date}
	config.Config = v1.Config{
		User: "65532:65532", ExposedPorts: map[string]struct{}{"7462/tcp": {}}, Volumes: map[string]struct{}{"/data": {}},
		Env:        []string{"SHOAL_DATA=/data", "SHOAL_ADDR=0.0.0.0:7462", "HOME=/data", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"},
		Entrypoint: []string{"/shoal"}, Cmd: []string{"serve"}, WorkingDir: "/", StopSignal: "SIGTERM",
		Healthcheck: &v1.HealthConfig{Test: []string{"CMD", "/shoal", "doctor", "--ready"}, Interval: 30 * time.Second, Timeout: 6 * time.Second, StartPeriod: 10 * time.Second},
		Labels: map[string]string{
			"org.opencontainers.image.title": "shoal", "org.opencontainers.image.description": description,
			"org.opencontainers.image.version": r.version, "org.opencontainers.image.revision": r.commit,
			"org.opencontainers.image.source": repository, "org.opencontainers.image.licenses": licence,
		},
	}
	return mutate.ConfigFile(image, config)
}

// entry is a file or, with a name that ends with a slash, a directory of a layer.
type entry struct {
	name    string
	mode    int64
	owner   int
	content []byte
}

// baseFiles are what a program expects of a machine: a user, a place for files of the
// moment, and the authorities whose certificates it believes, by which it reaches
// the vendors of models. Those are Mozilla's, from a Go module, so that go.sum pins them.
func baseFiles() []*entry {
	var roots bytes.Buffer
	for root := range bundle.Roots() {
		_ = pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes everything
	}
	return []*entry{
		{name: "etc/", mode: 0o755},
		{name: "etc/passwd", mode: 0o644, content: []byte("root:x:0:0:root:/:/sbin/nologin\nshoal:x:65532:65532:shoal:/data:/sbin/nologin\n")},
		{name: "etc/group", mode: 0o644, content: []byte("root:x:0:\nshoal:x:65532:\n")},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: roots.Bytes()},
		{name: "tmp/", mode: 0o1777},
		{name: "data/", mode: 0o700, owner: imageUser},
	}
}

func layer(entries []*entry, at time.Time) (v1.Layer, error) {
	content, err := tarEntries(entries, at)
	if err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithMediaType(types.OCILayer))
}

// tarOf packs a directory, sorted by name.
func tarOf(dir fs.FS, at time.Time) ([]byte, error) {
	var entries []*entry
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || name == ".":
			return err
		case d.IsDir():
			entries = append(entries, &entry{name: name + "/", mode: 0o755})
			return nil
		}
		content, err := fs.ReadFile(dir, name)
		entries = append(entries, &entry{name: name, mode: 0o644, content: content})
		return err
	})
	if err != nil {
		return nil, err
	}
	return tarEntries(entries, at)
}

func tarEntries(entries []*entry, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for _, e := range entries {
		head := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Size: int64(len(e.content)), Mode: e.mode, Uid: e.owner, Gid: e.owner, ModTime: at, Format: tar.FormatUSTAR}
		if strings.HasSuffix(e.name, "/") {
			head.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(head); err != nil {
			return nil, err
		}
		if _, err := archive.Write(e.content); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return out.Bytes(), err
}
