package release

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"strings"

	"aead.dev/minisign"
)

// Archive is the name of the archive of a version for this machine.
func Archive(version string) string {
	name := fmt.Sprintf("shoal_%s_%s_%s", version, runtime.GOOS, runtime.GOARCH)
	if runtime.GOOS == "windows" {
		return name + ".zip"
	}
	return name + ".tar.gz"
}

// Download writes the program of a release into a new file, which only the program of
// that release can be: its archive has the checksum that SHA256SUMS says, and if the
// source has a key, SHA256SUMS has its signature. The archive is stored beside the file
// meanwhile. After an error neither is left.
func (s *Source) Download(ctx context.Context, r Release, file string) (err error) {
	name := Archive(r.Version)
	want, err := s.checksum(ctx, r, name)
	if err != nil {
		return err
	}
	packed, err := os.OpenFile(file+".archive", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, packed.Close(), os.Remove(packed.Name()))
		if err != nil {
			_ = os.Remove(file) // it may not have been made
		}
	}()
	body, err := s.open(ctx, path.Join(r.folder, name))
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }() // it was only read
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(packed, sum), io.LimitReader(body, maxArchive+1))
	if err != nil {
		return fmt.Errorf("download %s: %w", name, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); size > maxArchive || got != want {
		return invalid("The checksum of %s is %s, and SHA256SUMS says %s: the download is incomplete or was changed. Nothing was installed.", name, got, want)
	}
	return unpack(packed, size, file)
}

// checksum returns what SHA256SUMS says about a file, after verifying its signature.
func (s *Source) checksum(ctx context.Context, r Release, name string) (string, error) {
	list, err := s.get(ctx, path.Join(r.folder, "SHA256SUMS"))
	if err != nil {
		return "", err
	}
	if s.key != nil {
		signature, err := s.get(ctx, path.Join(r.folder, "SHA256SUMS.minisig"))
		if err != nil {
			return "", err
		}
		if !minisign.Verify(*s.key, list, signature) {
			return "", invalid("The signature of SHA256SUMS is not of the key %s: somebody else made this release. Nothing was installed.", s.key)
		}
	}
	for line := range strings.Lines(string(list)) {
		if fields := strings.Fields(line); len(fields) == 2 && strings.TrimPrefix(fields[1], "*") == name {
			return strings.ToLower(fields[0]), nil
		}
	}
	return "", invalid("The release %s has no %s: it is not built for this machine.", r.Version, name)
}

// unpack writes the program in an archive into a new file.
func unpack(packed *os.File, size int64, file string) error {
	program, err := programIn(packed, size)
	if err != nil {
		return fmt.Errorf("%s: %w", packed.Name(), err)
	}
	defer func() { _ = program.Close() }() // it was only read
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(program, maxProgram+1))
	if err == nil && n > maxProgram {
		err = errors.New("the program is too large")
	}
	return errors.Join(err, out.Chmod(0o755), out.Sync(), out.Close())
}

// programIn finds the program in an archive.
func programIn(packed *os.File, size int64) (io.ReadCloser, error) {
	missing := errors.New("there is no program shoal in it")
	if runtime.GOOS == "windows" {
		files, err := zip.NewReader(packed, size)
		if err != nil {
			return nil, err
		}
		for _, f := range files.File {
			if path.Base(f.Name) == "shoal.exe" {
				return f.Open()
			}
		}
		return nil, missing
	}
	if _, err := packed.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	plain, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	for files := tar.NewReader(plain); ; {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil, missing
		}
		if err != nil {
			return nil, err
		}
		if head.Typeflag == tar.TypeReg && path.Base(head.Name) == "shoal" {
			return io.NopCloser(files), nil
		}
	}
}
