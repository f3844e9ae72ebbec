package cli

import (
	"errors"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal"
)

// upperInName finds where a word begins in the name of a field, as the A in maxAge.
var upperInName = regexp.MustCompile(`[A-Z]`)

// fieldFirst matches a message that begins with the field that it is about.
var fieldFirst = regexp.MustCompile(`^([a-z][A-Za-z.]*(?:\[\d+\])?) (?:must|may|cannot|needs|exceeds|has|is) `)

// withFlags returns err with fields of the REST API, such as "scopes[0]" and "query.act",
// replaced by the flags of the command that have the same name; --renew sets "renewForMs". Fields that
// no flag has keep their names.
func withFlags(chosen *kong.Context, err error) error {
	var e *shoal.Error
	if chosen == nil || !errors.As(err, &e) || e.Kind != shoal.InvalidArgument {
		return err
	}
	text := ErrorText(err)
	for _, field := range e.Fields {
		if flag := flagOf(chosen, field.Location); flag != "" {
			text = strings.ReplaceAll(text, field.Location, "--"+flag)
		}
	}
	if found := fieldFirst.FindStringSubmatch(text); found != nil {
		if flag := flagOf(chosen, found[1]); flag != "" {
			text = "--" + flag + strings.TrimPrefix(text, found[1])
		}
	}
	return &shoal.Error{Kind: e.Kind, Msg: text, RequestID: e.RequestID, Err: err}
}

// flagOf returns the name of the flag of the command that sets a field of a request, else "".
func flagOf(chosen *kong.Context, location string) string {
	name, _, _ := strings.Cut(location, "[")
	name = name[strings.LastIndex(name, ".")+1:]
	name = strings.ToLower(upperInName.ReplaceAllString(name, "-$0"))
	for _, flag := range chosen.Flags() {
		switch flag.Name {
		case name, strings.TrimSuffix(name, "s"), strings.TrimSuffix(name, "-id"), strings.TrimSuffix(name, "-ms"), strings.TrimSuffix(name, "-for-ms"):
			return flag.Name
		}
	}
	return ""
}
