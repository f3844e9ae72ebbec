package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// sizes prints what a program consists of and what it links.
func sizes(ctx context.Context, out io.Writer) error {
	head(out, "", "version", "lines", "names", "modules", "MB")
	for _, l := range libraries {
		lines, names, err := l.source(ctx)
		if err != nil {
			return err
		}
		info, err := buildinfo.ReadFile(l.program)
		if err != nil {
			return err
		}
		version := "?"
		for _, m := range info.Deps {
			if m.Path == l.version {
				version = m.Version
			}
		}
		if l.dir == "shoal" {
			version = "this tree"
		}
		file, err := os.Stat(l.program)
		if err != nil {
			return err
		}
		row(out, l.name, version, fmt.Sprint(lines), fmt.Sprint(names), fmt.Sprint(len(info.Deps)), fmt.Sprintf("%.1f", float64(file.Size())/1e6))
	}
	return nil
}

// source counts the lines of a program that have code, and the exported names of the library that
// it uses: packages' functions, types, constants and variables, and methods and fields.
func (l *library) source(ctx context.Context) (lines, names int, err error) {
	list := func(format string, more ...string) ([]string, error) {
		cmd := l.goCommand(ctx, "list", append([]string{"-trimpath", "-f", format}, more...)...)
		cmd.Stderr = os.Stderr
		text, err := cmd.Output()
		return strings.Fields(string(text)), err
	}
	exports := map[string]string{}
	packages, err := list("{{.ImportPath}}={{.Export}}", "-deps", "-export")
	if err != nil {
		return 0, 0, err
	}
	for _, p := range packages {
		path, file, _ := strings.Cut(p, "=")
		exports[path] = file
	}
	files, err := list("{{range .GoFiles}}{{.}} {{end}}")
	if err != nil {
		return 0, 0, err
	}
	set := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join("agents", l.dir, name))
		if err != nil {
			return 0, 0, err
		}
		lines += linesOf(text)
		file, err := parser.ParseFile(set, name, text, 0)
		if err != nil {
			return 0, 0, err
		}
		parsed = append(parsed, file)
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(set, "gc", open)}
	if _, err := config.Check("main", set, parsed, info); err != nil {
		return 0, 0, err
	}
	used := map[string]bool{}
	for _, o := range info.Uses {
		if o.Exported() && o.Pkg() != nil && l.owns(o.Pkg().Path()) {
			used[set.Position(o.Pos()).String()+o.Name()] = true
		}
	}
	return lines, len(used), nil
}

// owns reports whether a package is one of the library's.
func (l *library) owns(path string) bool {
	for _, m := range l.modules {
		if strings.HasPrefix(path+"/", m) {
			return true
		}
	}
	return false
}

// linesOf counts the lines that have more than a comment.
func linesOf(text []byte) int {
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	code := map[int]bool{}
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			return len(code)
		}
		if kind == token.SEMICOLON && literal == "\n" {
			continue
		}
		at := set.Position(pos).Line
		for i := range bytes.Count([]byte(literal), []byte("\n")) + 1 {
			code[at+i] = true
		}
	}
}
