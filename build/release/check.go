package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// check checks the types of Shoal's packages for every target, so that a change that
// does not compile on one platform is found before a release. It takes seconds, because
// dependencies are read without the bodies of their functions. With compile it also
// compiles and vets the program for every target, which takes a minute of CPU or more
// for each when the build cache is cold.
func (o options) check(ctx context.Context) error {
	var problems []error
	for _, t := range o.targets {
		found, checked, err := o.checkTarget(ctx, t)
		if err != nil {
			return err
		}
		if checked == 0 {
			return fmt.Errorf("%s: no package was checked", t)
		}
		if o.compile && len(found) == 0 {
			for _, args := range [][]string{{"build", "-trimpath", "-o", os.DevNull, "./cmd/shoal"}, {"vet", "-trimpath", "./cmd/shoal"}} {
				if _, err := output(ctx, o.root, t.env(), "go", args...); err != nil {
					found = append(found, err)
				}
			}
		}
		for _, problem := range found {
			problems = append(problems, fmt.Errorf("%s: %w", t, problem))
		}
	}
	return errors.Join(problems...)
}

func (o options) checkTarget(ctx context.Context, t target) (problems []error, checked int, err error) {
	own := o.root + string(filepath.Separator)
	config := &packages.Config{
		Context: ctx, Dir: o.root, Env: append(os.Environ(), t.env()...),
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedModule | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedTypesSizes | packages.NeedSyntax,
		ParseFile: func(files *token.FileSet, name string, text []byte) (*ast.File, error) {
			f, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
			if err == nil && !strings.HasPrefix(name, own) {
				dropBodies(f)
			}
			return f, err
		},
	}
	loaded, err := packages.Load(config, "./cmd/shoal", "./client")
	if err != nil {
		return nil, 0, err
	}
	packages.Visit(loaded, nil, func(p *packages.Package) {
		m := p.Module
		if m == nil || !m.Main && (m.Replace == nil || !strings.HasPrefix(m.Replace.Path, "./")) {
			return // of somebody else
		}
		checked++
		for _, problem := range p.Errors {
			problems = append(problems, problem)
		}
	})
	return problems, checked, nil
}

// dropBodies removes what other packages cannot see of a file.
func dropBodies(f *ast.File) {
	for _, decl := range f.Decls {
		if function, is := decl.(*ast.FuncDecl); is {
			function.Body = nil
		}
	}
}
