package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
)

const testDepth = 64

func TestScanAccepts(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `""`, `0`, `-0`, `true`, `false`, `null`, ` [ ] `, "\t\r\n{ } ",
		`{"a":1,"b":[1,2,{"a":"a"}],"c":{"a":{"a":null}}}`,
		`[0.5,-1.25e+10,1E5,1e-7,123456789012345678901234567890]`,
		`"\"\\\/\b\f\n\r\t\u0041\u00e9"`,
		`"😀 \ud83d\ude00 \uD83D\uDE00 ünï 漢字"`,
		`"\u0000\ufffe\uffff"`, "\"\x7f\u2028\ufeff\"",
		`{"":1}`, `{"a":1,"A":1}`, `{"a":{"b":1},"b":{"a":1}}`, `[{"a":1},{"a":1}]`,
		`{"é":1,"e\u0301":1}`,
		nested(testDepth),
		strings.Repeat(`{"a":`, testDepth) + "1" + strings.Repeat("}", testDepth),
		objectOf(100_000),
		chained(`"k0":1`),
		"[" + objectOf(100) + "," + objectOf(100) + `,{"k1":` + objectOf(100) + `,"k2":1}]`,
	} {
		if err := Scan([]byte(text), testDepth); err != nil {
			t.Errorf("Scan(%.60q) = %v, want nil", text, err)
		}
		if !json.Valid([]byte(text)) {
			t.Errorf("%.60q is not JSON: the test is wrong", text)
		}
	}
}

func TestScanRefuses(t *testing.T) {
	const truncated = "the text ends where"
	for _, tt := range []struct {
		name, text string
		offset     int
		says       string
	}{
		{"nothing", ``, 0, truncated},
		{"white space only", ` `, 1, truncated},
		{"byte order mark", "\ufeff{}", 0, "byte order mark"},
		{"trailing value", `{} {}`, 3, "something follows"},
		{"trailing bracket", `[]]`, 2, "something follows"},
		{"trailing NUL", "1\x00", 1, "something follows"},
		{"word", `nul`, 0, "'n' stands where a value"},
		{"wrong word", `[trve]`, 1, "'t' stands where a value"},
		{"word with a tail", `nullx`, 4, "something follows"},
		{"not a number", `NaN`, 0, "'N' stands where a value"},
		{"single quotes", `'a'`, 0, "stands where a value"},
		{"comment", `/*x*/1`, 0, "'/' stands where a value"},
		{"form feed as white space", "\f1", 0, `'\f' stands where a value`},
		{"no-break space", "\u00a01", 0, `'\u00a0' stands where a value`},

		{"open array", `[`, 1, truncated},
		{"open array after a value", `[1`, 2, truncated},
		{"open array after a comma", `[1,`, 3, truncated},
		{"comma before the end of an array", `[1,]`, 3, "']' stands where a value"},
		{"comma at the start of an array", `[,1]`, 1, "',' stands where a value"},
		{"no comma", `[1 2]`, 3, "'2' stands where a comma or the end of the array"},
		{"array closed as an object", `[1}`, 2, "'}' stands where a comma or the end of the array"},

		{"open object", `{`, 1, truncated},
		{"open object after a key", `{"a"`, 4, truncated},
		{"open object after a colon", `{"a":`, 5, truncated},
		{"open object after a value", `{"a":1`, 6, truncated},
		{"comma before the end of an object", `{"a":1,}`, 7, "'}' stands where a key"},
		{"key without quotes", `{a:1}`, 1, "'a' stands where a key"},
		{"number as key", `{1:1}`, 1, "'1' stands where a key"},
		{"no colon", `{"a" 1}`, 5, "'1' stands where a colon"},
		{"no comma between members", `{"a":1"b":2}`, 6, `'"' stands where a comma or the end of the object`},
		{"object closed as an array", `{"a":1]`, 6, "']' stands where a comma or the end of the object"},

		{"plus", `+1`, 0, "'+' stands where a value"},
		{"minus alone", `-`, 1, truncated},
		{"minus word", `-Infinity`, 1, "'I' stands where a digit"},
		{"leading zero", `01`, 1, "something follows"},
		{"leading zero in an array", `[-012]`, 3, "'1' stands where a comma"},
		{"point first", `.5`, 0, "'.' stands where a value"},
		{"point last", `[1.]`, 3, "']' stands where a digit"},
		{"exponent without digits", `1e`, 2, truncated},
		{"exponent with a sign only", `[1E+]`, 4, "']' stands where a digit"},
		{"hexadecimal", `0x10`, 1, "something follows"},

		{"open string", `"abc`, 4, "inside a string"},
		{"open string after a backslash", `"abc\`, 5, "inside a string"},
		{"line break in a string", "\"a\nb\"", 2, "control character"},
		{"NUL in a string", "\"\x00\"", 1, "control character"},
		{"control character late in a string", "\"0123456789abcdef\x1f\"", 17, "control character"},
		{"unknown escape", `"\x41"`, 1, "escape does not exist"},
		{"quote escape of other languages", `"\'"`, 1, "escape does not exist"},
		{"short \\u", `"\u12"`, 1, "four hexadecimal digits"},
		{"\\u at the end", `"\u`, 1, "four hexadecimal digits"},
		{"\\u with another letter", `"\u12g4"`, 1, "four hexadecimal digits"},

		{"first half alone", `"\ud83d"`, 1, `\ud83d is half of a character`},
		{"second half alone", `"ab\ude00"`, 3, `\ude00 is half of a character`},
		{"first half twice", `"\ud83d\ud83d"`, 1, `\ud83d is half of a character`},
		{"halves in the wrong order", `"\ude00\ud83d"`, 1, `\ude00 is half of a character`},
		{"half before a letter", `"\uD83Dx"`, 1, `\uD83D is half of a character`},
		{"half before another escape", `"\ud83d\n"`, 1, `\ud83d is half of a character`},

		{"byte that is not UTF-8", "{\"a\":\"b\xff\"}", 7, "not UTF-8"},
		{"overlong slash", "\"\xc0\xaf\"", 1, "not UTF-8"},
		{"surrogate as bytes", "\"\xed\xa0\xbd\"", 1, "not UTF-8"},
		{"character cut at the end of a string", "\"ab\xf0\x9f\x98\"", 3, "not UTF-8"},
		{"beyond Unicode", "\"\xf4\x90\x80\x80\"", 1, "not UTF-8"},
		{"not UTF-8 in a key", "{\"\xe9\":1}", 2, "not UTF-8"},
		{"not UTF-8 outside strings", "[1,\xff]", 3, "not UTF-8"},
		{"UTF-16", "\xff\xfe1\x00", 0, "not UTF-8"},

		{"key twice", `{"a":1,"b":2,"a":3}`, 13, `the key "a" appears a second time`},
		{"empty key twice", `{"":1,"":2}`, 6, `the key "" appears`},
		{"key twice, once escaped", `{"a":1,"\u0061":2}`, 7, `the key "a" appears`},
		{"key twice, escaped in two ways", `{"\/\ud83d\ude00":1,"\u002f😀":2}`, 20, `the key "/😀" appears`},
		{"key twice, inside", `[{"x":{"a":1,"a":1}}]`, 13, `the key "a" appears`},
		{"key twice, around an object with it", `{"a":{"a":1},"a":1}`, 13, `the key "a" appears`},
		{"key twice among many, late", objectOf(100)[:len(objectOf(100))-1] + `,"k99":1}`, len(objectOf(100)), `the key "k99" appears`},
		{"key twice among many, early", objectOf(100)[:len(objectOf(100))-1] + `,"k\u0030":1}`, len(objectOf(100)), `the key "k0" appears`},
		{"key twice after many and an object between", objectOf(17)[:len(objectOf(17))-1] + `,"o":{"k1":1},"k1":1}`, len(objectOf(17)) + 13, `the key "k1" appears`},

		{"key twice below many open objects", chained(`"k0":1,"k1":1,"k0":1`), 40*13 + 15, `the key "k0" appears`},
		{"key twice around many open objects", chained(`"k0":1`)[:40*13+8+39] + `,"k1":1}`, 40*13 + 48, `the key "k1" appears`},
		{"key twice after a neighbour below many open objects", chained(`"k0":[{"a":1},{"b":1,"b":1}]`), 40*13 + 22, `the key "b" appears`},
		{"open key", `{"a`, 3, "inside a string"},

		{"too deep", nested(testDepth + 1), testDepth, "deeper than 64 levels"},
		{"too deep with objects", strings.Repeat(`{"a":`, testDepth) + `{}`, 5 * testDepth, "deeper than 64 levels"},
		{"16,000 arrays", nested(16_000), testDepth, "deeper than 64 levels"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := Scan([]byte(tt.text), testDepth)
			var refusal *shoal.Error
			if !errors.As(err, &refusal) || refusal.Kind != shoal.InvalidJSON {
				t.Fatalf("Scan = %v, want an error of kind invalid_json", err)
			}
			if at := fmt.Sprintf("at byte %d: ", tt.offset); !strings.Contains(refusal.Msg, at) || !strings.Contains(refusal.Msg, tt.says) {
				t.Errorf("Scan says %q, want %q and %q in it", refusal.Msg, at, tt.says)
			}
		})
	}
}

// plainEnd checks eight bytes at once. It must find every byte at every position, next
// to low and high bytes.
func TestPlainEnd(t *testing.T) {
	for c := range 256 {
		for _, filler := range []string{"x", " ", "!", "#", "[", "]", "\x7f", "\x80", "\xa0", "\xff"} {
			for at := range 20 {
				data := []byte(strings.Repeat(filler, 24))
				data[at] = byte(c)
				want := len(data)
				if c < 0x20 || c == '"' || c == '\\' {
					want = at
				}
				if got := plainEnd(data, 0); got != want {
					t.Fatalf("plainEnd(%q) = %d, want %d", data, got, want)
				}
			}
		}
	}
}

// A refusal repeats at most the start of what was sent, and shows it harmlessly.
func TestScanQuotesLittle(t *testing.T) {
	key := strings.Repeat("é\u001b", 5000)
	key = strings.ReplaceAll(key, "\u001b", `\u001b`)
	err := Scan([]byte(`{"`+key+`":1,"`+key+`":2}`), testDepth)
	if err == nil {
		t.Fatal("Scan accepts a key that appears twice")
	}
	if text := err.Error(); len(text) > 300 || strings.ContainsRune(text, 0x1b) || !utf8.ValidString(text) {
		t.Errorf("Scan says %q, want a short sentence without control characters", text)
	}
}

func TestScanMaxDepth(t *testing.T) {
	for _, tt := range []struct {
		text     string
		maxDepth int
		ok       bool
	}{
		{`1`, 0, true}, {`[]`, 0, false}, {`[]`, 1, true}, {`[{}]`, 1, false}, {`{"a":[1]}`, 2, true},
	} {
		if err := Scan([]byte(tt.text), tt.maxDepth); (err == nil) != tt.ok {
			t.Errorf("Scan(%s, %d) = %v, accepted should be %v", tt.text, tt.maxDepth, err, tt.ok)
		}
	}
}

// What an attacker may send of 4 MiB costs milliseconds. Were one of these
// quadratic it would take minutes.
func TestScanIsLinear(t *testing.T) {
	for name, text := range map[string]string{
		"one object":      objectOf(400_000),
		"escaped keys":    strings.ReplaceAll(objectOf(300_000), `"k`, `"\u006b`),
		"many objects":    "[" + strings.Repeat(objectOf(fewKeys+1)+",", 30_000) + "0]",
		"long equal keys": "[" + strings.Repeat(`{"`+strings.Repeat("x", 1000)+`":1},`, 4_000) + "0]",
		"open arrays":     strings.Repeat("[", 4<<20),
		"open objects":    strings.Repeat(`{"a":`, 800_000),
		"open string":     `"` + strings.Repeat(`\\`, 2<<20),
		"not UTF-8":       strings.Repeat("x", 4<<20) + "\xff",
	} {
		start := time.Now()
		_ = Scan([]byte(text), testDepth) // other tests check whether it is accepted
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("Scan of %s takes %v for %d bytes", name, took, len(text))
		}
	}
}

func TestScanAllocatesNothing(t *testing.T) {
	data := ordinary(64 << 10)
	if n := testing.AllocsPerRun(10, func() {
		if err := Scan(data, testDepth); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("Scan of an ordinary text allocates %v times, want 0", n)
	}
}

// FuzzScan holds Scan to encoding/json: whatever Scan accepts encoding/json
// accepts, and what Scan refuses either encoding/json refuses too or a plain
// and slow reading of the extra rules does.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"b":[true,false,null,-1.5e-3,"x\u00e9\ud83d\ude00\n"]}`, `{"a":1,"\u0061":2}`, `[[[[[[[[[[]]]]]]]]]]`,
		`"\ud83d"`, "\"\xff\"", "\ufeff1", `01`, `[1,]`, `{"a":1,}`, `1 2`, `"` + "\x1f" + `"`, `1e`, `"\u00`, objectOf(40), ``, strings.Repeat(`9`, 400),
		`"aaaaaaaaaaaaaaaaaaaaaaaa\"aaaaaaaaaaaaaaaaaaaaaaaa\\"`,
	} {
		f.Add([]byte(seed))
	}
	const depth = 8
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		err := Scan(data, depth)
		if !bytes.Equal(before, data) {
			t.Fatal("Scan changed its input")
		}
		want := json.Valid(data) && utf8.Valid(data) && !hasLoneHalf(data) && plainRules(data, depth)
		if (err == nil) != want {
			t.Fatalf("Scan(%q) = %v, accepted should be %v", data, err, want)
		}
	})
}

// plainRules reports whether valid JSON keeps the depth and has no key twice in
// one object, read token by token with encoding/json.
func plainRules(data []byte, depth int) bool {
	type open struct {
		object, value bool
		keys          map[string]bool
	}
	var stack []*open
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // or a number that no float64 holds would be an error
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			panic(err) // json.Valid said otherwise
		}
		var top *open
		if len(stack) > 0 {
			top = stack[len(stack)-1]
		}
		if token == json.Delim(']') || token == json.Delim('}') {
			stack = stack[:len(stack)-1]
			continue
		}
		if top != nil && top.object {
			if !top.value {
				key := token.(string)
				if top.keys[key] {
					return false
				}
				top.keys[key], top.value = true, true
				continue
			}
			top.value = false
		}
		if delim, ok := token.(json.Delim); ok {
			if stack = append(stack, &open{object: delim == '{', keys: map[string]bool{}}); len(stack) > depth {
				return false
			}
		}
	}
}

// hasLoneHalf reports whether a \u escape in valid JSON is half of a character
// whose other half does not follow.
func hasLoneHalf(data []byte) bool {
	text := string(data)
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if i++; text[i] != 'u' {
			continue
		}
		first := unitAt(text, i-1)
		i += 4
		switch second := unitAt(text, i+1); {
		case first < 0xd800 || first > 0xdfff:
		case first < 0xdc00 && 0xdc00 <= second && second <= 0xdfff:
			i += 6
		default:
			return true
		}
	}
	return false
}

// unitAt returns the number in the \u escape at i, or -1 if there is none.
func unitAt(text string, i int) int64 {
	if i+6 > len(text) || text[i:i+2] != `\u` {
		return -1
	}
	unit, err := strconv.ParseUint(text[i+2:i+6], 16, 16)
	if err != nil {
		return -1
	}
	return int64(unit)
}

func BenchmarkScan(b *testing.B) {
	for _, bench := range []struct {
		name string
		data []byte
	}{
		{"ordinary", ordinary(64 << 10)},
		{"message", []byte(`{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"send_message","arguments":{"threadId":"spc_01k9x","content":"What were the final Q4 sales figures, and which region did best?","mentions":["data-analyzer"]}}}`)},
		{"prose", []byte(`"` + strings.Repeat("What were the final figures? They are in the table below. ", 20_000) + `"`)},
		{"cyrillic", []byte(`"` + strings.Repeat("Каковы окончательные цифры продаж? ", 20_000) + `"`)},
		{"numbers", []byte("[" + strings.Repeat("1,-2.5,", 200_000) + "0]")},
		{"empty objects", []byte("[" + strings.Repeat("{},", 1_000_000) + "0]")},
		{"16 keys", []byte("[" + strings.Repeat(objectOf(16)+",", 30_000) + "0]")},
		{"17 keys", []byte("[" + strings.Repeat(objectOf(17)+",", 30_000) + "0]")},
		{"one object of 4 MiB", []byte(objectOf(400_000))},
		{"one object of escaped keys", []byte(strings.ReplaceAll(objectOf(100_000), `"k`, `"\u006b`))},
		{"4 MiB of arrays", []byte(strings.Repeat("[", 4<<20))},
		{"4 MiB of wide nesting", []byte("[" + strings.Repeat(nested(63)+",", (4<<20)/127) + "0]")},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.data)))
			b.ReportAllocs()
			for b.Loop() {
				_ = Scan(bench.data, testDepth)
			}
		})
	}
}

// nested returns n arrays in each other.
func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// chained returns an object with these members inside 40 objects with two keys.
func chained(members string) string {
	return strings.Repeat(`{"k1":1,"k2":`, 40) + "{" + members + "}" + strings.Repeat("}", 40)
}

// objectOf returns an object with n keys k0, k1 and so on.
func objectOf(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":1`, i)
	}
	return "{" + b.String()[1:] + "}"
}

// ordinary returns about n bytes of JSON such as the API exchanges.
func ordinary(n int) []byte {
	const message = `{"id":"msg_123","seq":12,"entityId":"shop-agent","runId":null,"status":"completed","mentions":["ann","bob"],` +
		`"createdAt":"2026-11-20T10:00:00.000Z","parts":[{"id":"prt_1","type":"text","text":"Here are some laptops that you may like, ` +
		`with a screen of 14 inches or less, sorted by price.\nThe first one is “on sale” this week. 😀"},{"id":"prt_2",` +
		`"type":"tool_call","args":{"name":"MacBook Pro","price":1299.5},"result":null,"private":false}]}`
	return []byte("[" + strings.Repeat(message+",\n ", n/len(message)) + "{}]")
}
