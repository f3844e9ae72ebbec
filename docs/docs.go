// Package docs embeds the pages of this directory, which a server serves to people and
// agents: see internal/docsite.
package docs

import "embed"

// Files are the pages, by their paths in this directory, and llms.txt, the beginning of
// their list. readme.md is the README of the repository; `make generate` writes it.
//
//go:embed *.md decisions/*.md llms.txt
var Files embed.FS
