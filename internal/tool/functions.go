package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// modulo is the name of the function for %; no expression can call it by name.
const modulo = "%"

// functions are the functions that an expression can call.
var functions = map[string]func(args []any) (any, error){
	modulo:  twoNumbers(math.Mod),
	"round": round,
	"floor": oneNumber(math.Floor),
	"ceil":  oneNumber(math.Ceil),
	"abs":   oneNumber(math.Abs),
	"min":   overNumbers(func(all []float64) float64 { return slices.Min(all) }),
	"max":   overNumbers(func(all []float64) float64 { return slices.Max(all) }),
	"sum":   sum,
	"avg":   overNumbers(func(all []float64) float64 { return total(all) / float64(len(all)) }),
	"len":   length,
	"lower": oneText(strings.ToLower),
	"upper": oneText(strings.ToUpper),
	"trim":  oneText(strings.TrimSpace),
	"text":  asText,
}

// functionNames returns the names of the functions, for error messages.
func functionNames() []string {
	names := slices.Sorted(maps.Keys(functions))
	return slices.DeleteFunc(names, func(name string) bool { return name == modulo })
}

// adaptFunction adapts a function to the library and adds its name to errors.
func adaptFunction(name string, f func(args []any) (any, error)) func(args ...any) (any, error) {
	return func(args ...any) (any, error) {
		v, err := f(args)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return v, nil
	}
}

var (
	errOneNumber = errors.New("takes one number")
	errTwo       = errors.New("takes two numbers")
	errNumbers   = errors.New("takes numbers or one list of numbers, and at least one number")
	errText      = errors.New("takes one text")
)

func oneNumber(f func(float64) float64) func([]any) (any, error) {
	return func(args []any) (any, error) {
		if len(args) == 1 {
			if n, ok := args[0].(float64); ok {
				return f(n), nil
			}
		}
		return nil, errOneNumber
	}
}

func twoNumbers(f func(a, b float64) float64) func([]any) (any, error) {
	return func(args []any) (any, error) {
		if len(args) == 2 {
			a, isA := args[0].(float64)
			b, isB := args[1].(float64)
			if isA && isB {
				return f(a, b), nil
			}
		}
		return nil, errTwo
	}
}

func oneText(f func(string) string) func([]any) (any, error) {
	return func(args []any) (any, error) {
		if len(args) == 1 {
			if s, ok := args[0].(string); ok {
				return f(s), nil
			}
		}
		return nil, errText
	}
}

// numbers returns arguments that are numbers, or a single list of numbers.
func numbers(args []any) ([]float64, error) {
	if len(args) == 1 {
		if list, ok := args[0].([]any); ok {
			args = list
		}
	}
	all := make([]float64, len(args))
	for i, v := range args {
		n, ok := v.(float64)
		if !ok {
			return nil, errNumbers
		}
		all[i] = n
	}
	return all, nil
}

func overNumbers(f func([]float64) float64) func([]any) (any, error) {
	return func(args []any) (any, error) {
		all, err := numbers(args)
		if err != nil || len(all) == 0 {
			return nil, errNumbers
		}
		return f(all), nil
	}
}

// sum of no numbers is 0.
func sum(args []any) (any, error) {
	all, err := numbers(args)
	if err != nil {
		return nil, err
	}
	return total(all), nil
}

func total(all []float64) (sum float64) {
	for _, n := range all {
		sum += n
	}
	return sum
}

// round rounds to whole numbers, or to a number of decimal places; halves are rounded away
// from zero.
func round(args []any) (any, error) {
	digits := 0.0
	if len(args) == 2 {
		d, ok := args[1].(float64)
		if !ok || d < 0 || d > 15 || d != math.Trunc(d) {
			return nil, errors.New("takes a number and a number of digits from 0 to 15")
		}
		digits, args = d, args[:1]
	}
	return oneNumber(func(n float64) float64 {
		scale := math.Pow(10, digits)
		if scaled := n * scale; math.Abs(scaled) < 1<<53 {
			return math.Round(scaled) / scale
		}
		return n // so large a number has no decimal places
	})(args)
}

func length(args []any) (any, error) {
	if len(args) == 1 {
		switch v := args[0].(type) {
		case string:
			return float64(utf8.RuneCountInString(v)), nil
		case []any:
			return float64(len(v)), nil
		case map[string]any:
			return float64(len(v)), nil
		}
	}
	return nil, errors.New("takes a text, a list or an object")
}

func asText(args []any) (any, error) {
	if len(args) != 1 {
		return nil, errors.New("takes one value")
	}
	if s, ok := args[0].(string); ok {
		return s, nil
	}
	text, err := json.Marshal(args[0])
	if err != nil {
		return nil, errors.New("takes a value that JSON can represent")
	}
	return string(text), nil
}
