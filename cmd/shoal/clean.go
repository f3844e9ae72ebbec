package main

import "github.com/shoal-dev/shoal/internal/safetext"

// Text of others goes through these before it is shown: see package safetext.

func clean(s string) string { return safetext.Clean(s) }

func line(s string) string { return safetext.Line(s) }

func unsafe(r rune) bool { return safetext.Unsafe(r) }
