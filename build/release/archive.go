package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"time"
)

// file is one file of an archive. Archives list files in the order that they are
// given, with the date of the commit, so that equal files make equal archives.
type file struct {
	name    string // with slashes
	content []byte
	mode    os.FileMode // 0755 for programs, else 0644
}

// writeArchives writes the archive and the list of components of each binary.
func (r *release) writeArchives(context.Context) error {
	for _, b := range r.binaries {
		files, err := r.files(b)
		if err != nil {
			return err
		}
		for i := range files {
			files[i].name = r.stem(b.target) + "/" + files[i].name
		}
		extension, pack := ".tar.gz", tarGz
		if b.os == "windows" {
			extension, pack = ".zip", zipped
		}
		content, err := pack(files, r.date)
		if err != nil {
			return err
		}
		if err := r.add("archive", b.target, r.stem(b.target)+extension, content); err != nil {
			return err
		}
		list, err := r.sbom(b)
		if err != nil {
			return err
		}
		if err := r.add("sbom", b.target, r.stem(b.target)+".cdx.json", list); err != nil {
			return err
		}
	}
	return nil
}

// files returns what every archive and package consists of, the program first.
func (r *release) files(b binary) ([]file, error) {
	files := []file{
		{b.program(), b.content, 0o755},
		{"THIRD-PARTY-LICENSES.txt", r.notices, 0o644},
	}
	for _, name := range []string{"LICENSE", "README.md"} {
		content, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, content, 0o644})
	}
	return files, nil
}

func tarGz(files []file, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(compressed)
	for _, f := range files {
		head := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(f.content)), Mode: int64(f.mode), ModTime: at, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(head); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	err = compressed.Close()
	return out.Bytes(), err
}

func zipped(files []file, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, f := range files {
		head := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		head.SetMode(f.mode)
		w, err := archive.CreateHeader(head)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return out.Bytes(), err
}
