package house_test

import (
	"go/ast"
	"path"
	"strings"
	"testing"
)

// isPublic says whether programs of others import the package.
func isPublic(dir string) bool {
	return dir == "." || dir == "client" || dir == "agent" || strings.HasPrefix(dir, "agent/")
}

// A program that imports a public package sees no type of what that package is
// built on: a dependency can be changed without breaking anybody.
func TestPublicPackagesExposeNoDependency(t *testing.T) {
	seen := 0
	for _, f := range goFiles(t) {
		if f.isTest() || !isPublic(f.dir()) {
			continue
		}
		foreign := foreignNames(f)
		for _, decl := range f.ast.Decls {
			for _, part := range exportedParts(decl) {
				seen++
				ast.Inspect(part, func(n ast.Node) bool {
					sel, ok := n.(*ast.SelectorExpr)
					if !ok {
						return true
					}
					if x, ok := sel.X.(*ast.Ident); ok && foreign[x.Name] != "" {
						t.Errorf("%s: the exported API shows %s.%s of %s", f.position(sel), x.Name, sel.Sel.Name, foreign[x.Name])
					}
					return true
				})
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d exported declarations were looked at", seen)
	}
}

// foreignNames returns the names under which a file knows packages of other
// modules.
func foreignNames(f goFile) map[string]string {
	out := map[string]string{}
	for _, spec := range f.ast.Imports {
		imported := unquote(spec.Path)
		first, _, _ := strings.Cut(imported, "/")
		if _, inside := moduleDir(imported); !inside && strings.Contains(first, ".") {
			out[f.localName(imported)] = imported
			out[path.Base(path.Dir(imported))] = imported // of a path that ends with /v2
		}
	}
	return out
}

// exportedParts returns what others can see of a declaration: types without the
// unexported fields of structs, signatures without bodies.
func exportedParts(decl ast.Decl) []ast.Node {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d.Recv)) {
			return []ast.Node{d.Type}
		}
	case *ast.GenDecl:
		var out []ast.Node
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					out = append(out, exportedType(s.Type)...)
				}
			case *ast.ValueSpec:
				if s.Names[0].IsExported() && s.Type != nil {
					out = append(out, s.Type)
				}
			}
		}
		return out
	}
	return nil
}

func exportedReceiver(recv *ast.FieldList) bool {
	x := recv.List[0].Type
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	if index, ok := x.(*ast.IndexExpr); ok {
		x = index.X
	}
	id, ok := x.(*ast.Ident)
	return ok && id.IsExported()
}

func exportedType(x ast.Expr) []ast.Node {
	s, ok := x.(*ast.StructType)
	if !ok {
		return []ast.Node{x}
	}
	var out []ast.Node
	for _, field := range s.Fields.List {
		if len(field.Names) == 0 || field.Names[0].IsExported() {
			out = append(out, field.Type)
		}
	}
	return out
}
