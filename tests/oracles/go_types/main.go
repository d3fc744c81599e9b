// What go/types says of the scopes of Go.
//
// Reads a JSON array of snippets from standard input, and writes one of the same length: for each
// snippet null where it does not parse, else what is known: `groups`, the places (bytes) of each
// variable or constant, and `known`, the places of all identifiers that were resolved to anything.
package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"sort"
	"strings"
)

const header = "package p;"

type answer struct {
	Groups [][]int `json:"groups"`
	Known  []int   `json:"known"`
	Twice  bool    `json:"twice"` // a name is declared again in its block: no Go
}

type nothing struct{}

func (nothing) Import(path string) (*types.Package, error) {
	made := types.NewPackage(path, path)
	made.MarkComplete()
	return made, nil
}

// namesInTypes finds the parameters of types such as `func(a int)`: they are no variables.
func namesInTypes(file *ast.File) map[token.Pos]bool {
	real := map[*ast.FuncType]bool{}
	found := map[token.Pos]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		switch each := node.(type) {
		case *ast.FuncDecl:
			real[each.Type] = true
			if each.Recv != nil {
				noteAll(each.Recv, found)
			}
		case *ast.FuncLit:
			real[each.Type] = true
		case *ast.FuncType:
			if !real[each] {
				noteAll(each.Params, found)
				noteAll(each.Results, found)
			}
		}
		return true
	})
	return found
}

func noteAll(fields *ast.FieldList, found map[token.Pos]bool) {
	if fields == nil {
		return
	}
	for _, field := range fields.List {
		for _, name := range field.Names {
			found[name.Pos()] = true
		}
	}
}

func ask(code string) *answer {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "p.go", header+code, parser.SkipObjectResolution)
	if err != nil {
		file, err = parser.ParseFile(files, "p.go", code, parser.SkipObjectResolution)
		if err != nil {
			return nil
		}
	}
	shift := 0
	if code[:min(len(code), 7)] != "package" {
		shift = len(header)
	}
	info := &types.Info{
		Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{},
	}
	found := &answer{Groups: [][]int{}, Known: []int{}}
	config := types.Config{
		Importer: nothing{},
		Error:    func(err error) { // what is not known is not the matter
			text := err.Error()
			if strings.Contains(text, "redeclared") || strings.Contains(text, "no new variables") {
				found.Twice = true
			}
		},
	}
	pack, _ := config.Check("p", files, []*ast.File{file}, info)
	place := func(at token.Pos) int { return files.Position(at).Offset - shift }
	groups := map[token.Pos][]int{}
	signatures := namesInTypes(file)
	note := func(name *ast.Ident, object types.Object) {
		found.Known = append(found.Known, place(name.Pos()))
		if object == nil { // the name in `switch x := y.(type)`
			groups[name.Pos()] = append(groups[name.Pos()], place(name.Pos()))
			return
		}
		if object.Parent() == types.Universe || object.Parent() == pack.Scope() {
			return
		}
		switch each := object.(type) {
		case *types.Var:
			if each.IsField() {
				return
			}
		case *types.Const:
		default:
			return
		}
		if object.Pkg() == pack && !signatures[object.Pos()] {
			groups[object.Pos()] = append(groups[object.Pos()], place(name.Pos()))
		}
	}
	for name, object := range info.Defs {
		if name.Name == "_" {
			found.Known = append(found.Known, place(name.Pos()))
		} else if name != file.Name {
			note(name, object)
		}
	}
	for name, object := range info.Uses {
		note(name, object)
	}
	for _, starts := range groups {
		sort.Ints(starts)
		found.Groups = append(found.Groups, starts)
	}
	sort.Ints(found.Known)
	return found
}

func main() {
	var snippets []string
	if err := json.NewDecoder(os.Stdin).Decode(&snippets); err != nil {
		panic(err)
	}
	answers := make([]*answer, len(snippets))
	for i, code := range snippets {
		answers[i] = ask(code)
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		panic(err)
	}
}
