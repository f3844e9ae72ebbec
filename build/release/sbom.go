package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// sbom lists the components of a binary in CycloneDX's JSON.
func (r *release) sbom(b binary) ([]byte, error) {
	sum := sha256.Sum256(b.content)
	list := cdx.NewBOM()
	// A serial number identifies a document; equal releases have equal documents.
	h := hex.EncodeToString(sum[:])
	list.SerialNumber = "urn:uuid:" + h[:8] + "-" + h[8:12] + "-5" + h[13:16] + "-8" + h[17:20] + "-" + h[20:32]
	version := cdx.Component{
		BOMRef: "shoal", Type: cdx.ComponentTypeApplication, Name: "shoal", Version: r.version, Description: description,
		PackageURL: "pkg:golang/github.com/shoal-dev/shoal@v" + r.version + "?goos=" + b.os + "&goarch=" + b.arch + "#cmd/shoal",
		Licenses:   &cdx.Licenses{{License: &cdx.License{ID: licence}}},
		Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: h}},
		Properties: &[]cdx.Property{{Name: "commit", Value: r.commit}},
	}
	list.Metadata = &cdx.Metadata{Timestamp: r.date.Format("2006-01-02T15:04:05Z"), Component: &version}
	var (
		listed []cdx.Component
		refs   []string
	)
	for _, c := range b.components {
		entry := cdx.Component{
			BOMRef: c.packageURL, Type: cdx.ComponentTypeLibrary, Name: c.name, Version: c.version, PackageURL: c.packageURL,
			Licenses: &cdx.Licenses{{Expression: c.licence}},
		}
		if c.sha512 != "" {
			entry.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA512, Value: c.sha512}}
		}
		listed, refs = append(listed, entry), append(refs, c.packageURL)
	}
	list.Components = &listed
	list.Dependencies = &[]cdx.Dependency{{Ref: "shoal", Dependencies: &refs}}
	var out bytes.Buffer
	err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).Encode(list)
	return out.Bytes(), err
}

// fromIntegrity returns the hexadecimal form of what package-lock.json calls integrity.
func fromIntegrity(integrity string) (string, error) {
	encoded, found := strings.CutPrefix(integrity, "sha512-")
	sum, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || !found {
		return "", fmt.Errorf("integrity %q is not a SHA-512", integrity)
	}
	return hex.EncodeToString(sum), nil
}
