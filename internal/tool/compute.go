package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
)

// The language has no loops, no definitions and no patterns. The time and the memory of an
// evaluation are therefore bounded by the sizes of the expression and the input.
const (
	maxExpression = 4096     // bytes
	maxNodes      = 200      // of the expression's tree
	maxInput      = 64 << 10 // bytes of arguments
)

var operators = strings.Fields("+ - * / % ^ ** == != < <= > >= and or && || not ! in contains startsWith endsWith ??")

var computeSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"data":{"description":"The value to compute with."},` +
	`"parameters":{"type":"object","description":"Further values, by name."}}}`)

// configureCompute configures a tool that evaluates an expression.
func (t *Tool) configureCompute(x *agentconfig.Compute) error {
	program, err := compileExpression(x.Expression)
	if err != nil {
		return shoal.Invalid("execution.expression", err.Error())
	}
	if len(t.spec.Schema) == 0 {
		t.spec.Schema = computeSchema
	}
	t.spec.Idempotent = true // there is no effect to repeat
	t.run = func(_ context.Context, c call) (agent.Output, error) {
		value, err := evaluate(program, c)
		if err != nil {
			out, wrong := outputOf(map[string]any{"success": false, "operation": x.Operation, "error": err.Error()})
			out.Failed = true
			return out, wrong
		}
		return outputOf(map[string]any{"success": true, "operation": x.Operation, "result": value})
	}
	return nil
}

func compileExpression(text string) (*vm.Program, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("has %d bytes; at most %d are allowed", len(text), maxExpression)
	}
	g := &grammar{}
	options := []expr.Option{
		expr.DisableAllBuiltins(), expr.Env(map[string]any{}), expr.AllowUndefinedVariables(),
		expr.MaxNodes(maxNodes), expr.Patch(g), expr.Optimize(false), expr.DisableIfOperator(),
	}
	for name, f := range functions {
		options = append(options, expr.Function(name, adaptFunction(name, f)))
	}
	program, err := expr.Compile(text, options...)
	if g.refused != "" {
		return nil, errors.New(g.refused)
	}
	if err != nil {
		return nil, fmt.Errorf("is not a valid expression: %s", firstLine(err))
	}
	return program, nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// grammar rejects the features of the library's language that ours does not have. It
// converts whole numbers to the floating point numbers of JSON.
type grammar struct{ refused string }

// Visit checks one node.
func (g *grammar) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if strings.HasPrefix(n.Value, "$") {
			g.refuse("uses %s, which is not supported", n.Value)
		}
	case *ast.NilNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode, *ast.ChainNode,
		*ast.ConditionalNode, *ast.ArrayNode, *ast.MapNode, *ast.PairNode:
	case *ast.MemberNode:
		if n.Method {
			g.refuse("calls a method; methods are not supported")
		}
	case *ast.IntegerNode:
		ast.Patch(node, &ast.FloatNode{Value: float64(n.Value)})
	case *ast.UnaryNode:
		if !slices.Contains(operators, n.Operator) {
			g.refuse("uses %s, which is not supported", n.Operator)
		}
	case *ast.BinaryNode:
		if n.Operator == "%" {
			ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: modulo}, Arguments: []ast.Node{n.Left, n.Right}})
		} else if !slices.Contains(operators, n.Operator) {
			g.refuse("uses %s, which is not supported", n.Operator)
		}
	case *ast.CallNode:
		name, ok := n.Callee.(*ast.IdentifierNode)
		if !ok || functions[name.Value] == nil {
			g.refuse("calls %s, which is not a function; available are %s", n.Callee, strings.Join(functionNames(), ", "))
		}
	default:
		g.refuse("uses %s, which is not supported", n)
	}
}

func (g *grammar) refuse(format string, args ...any) {
	if g.refused == "" {
		g.refused = fmt.Sprintf(format, args...)
	}
}

// evaluate runs a program over a call's input. The error is for the model.
func evaluate(program *vm.Program, c call) (value any, err error) {
	if len(c.Arguments) > maxInput {
		return nil, fmt.Errorf("the input has %d bytes; the limit is %d", len(c.Arguments), maxInput)
	}
	input, _ := floats(c.input).(map[string]any)
	names := maps.Clone(input)
	if names == nil {
		names = map[string]any{}
	}
	names["input"], names["data"], names["parameters"] = input, input["data"], input["parameters"]
	for _, from := range []any{input["data"], input["parameters"]} {
		fields, _ := from.(map[string]any)
		for name, v := range fields {
			names[name] = v
		}
	}
	defer func() {
		if stumbled := recover(); stumbled != nil {
			value, err = nil, errors.New("the expression does not fit the input")
		}
	}()
	value, err = expr.Run(program, names)
	if err != nil {
		return nil, fmt.Errorf("the expression does not fit the input: %s", firstLine(err))
	}
	return checkResultValue(value)
}

// floats copies a value with its numbers as float64.
func floats(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, _ := v.Float64() // a number that is too large becomes infinite, which writable rejects
		return f
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = floats(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = floats(item)
		}
		return out
	}
	return v
}

// checkResultValue returns an error for values that JSON cannot represent.
func checkResultValue(v any) (any, error) {
	f, ok := v.(float64)
	if ok && (math.IsInf(f, 0) || math.IsNaN(f)) {
		return nil, errors.New("the result is not a number: it is too large, or the expression divides by zero")
	}
	text, err := encode(v)
	if err != nil {
		return nil, errors.New("the result cannot be written as JSON")
	}
	if len(text) > MaxResult/2 {
		return nil, errors.New("the result is too large")
	}
	return v, nil
}
