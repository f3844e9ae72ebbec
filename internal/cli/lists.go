package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/wholefile"
)

// A list on a terminal numbers its rows, and the next commands of the same shell take these
// numbers for ids: `shoal approvals`, then `shoal approvals approve 1`. A number means the row
// that was shown, also if the list on the server has changed since.

// Bounds of what is remembered of lists.
const (
	maxShown      = 64 // lists
	maxShownIDs   = 1000
	shownFor      = 7 * 24 * time.Hour
	maxShownBytes = 4 << 20
)

// numbered maps the types of ids that commands take as numbers to the command that lists them.
var numbered = map[reflect.Type]string{
	reflect.TypeFor[shoal.PendingID]():    "shoal approvals",
	reflect.TypeFor[shoal.RunID]():        "shoal runs",
	reflect.TypeFor[shoal.PlanID]():       "shoal plans",
	reflect.TypeFor[shoal.KeyID]():        "shoal keys",
	reflect.TypeFor[shoal.InviteID]():     "shoal invite ls",
	reflect.TypeFor[shoal.RememberedID](): "shoal approvals remembered",
}

// shownList is a list as a terminal showed it.
type shownList struct {
	At      time.Time `json:"at"`
	Shell   int       `json:"shell"` // the process that commands are typed into
	Server  string    `json:"server"`
	Session string    `json:"session"`
	List    string    `json:"list"`
	IDs     []string  `json:"ids"`
}

// PrintList prints a list whose rows begin with an id. On a terminal the rows are numbered, and
// Run replaces these numbers by ids in later commands of the same shell.
func PrintList[ID ~string](sh *Shell, v any, head []string, rows ...[]string) error {
	o := sh.Output
	if !o.Terminal || o.JSON || o.Quiet || len(rows) == 0 {
		return o.PrintTable(v, head, rows...)
	}
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row[0]
	}
	if err := sh.keepList(numbered[reflect.TypeFor[ID]()], ids); err != nil {
		return o.PrintTable(v, head, rows...) // without numbers: nothing would know what they mean
	}
	for i, row := range rows {
		// The id is for programs and for other terminals, so it comes last.
		rows[i] = append(append([]string{strconv.Itoa(i + 1)}, row[1:]...), row[0])
	}
	return o.PrintTable(v, append(append([]string{"#"}, head[1:]...), head[0]), rows...)
}

// listsPath returns the file of the lists.
func listsPath() (string, error) {
	dir, err := StateDir()
	return filepath.Join(dir, "lists.json"), err
}

// shownLists returns the lists of the file that are not too old. A file that cannot be read
// counts as empty: nothing but convenience depends on it.
func shownLists(path string, now time.Time) (all []shownList) {
	text, err := os.ReadFile(path)
	if err != nil || len(text) > maxShownBytes || json.Unmarshal(text, &all) != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(l shownList) bool { return now.Sub(l.At) > shownFor })
}

// same reports whether two lists are the same list in the same shell.
func (l shownList) same(other shownList) bool {
	return l.Shell == other.Shell && l.Server == other.Server && l.Session == other.Session && l.List == other.List
}

func (sh *Shell) shownList(list string) shownList {
	return shownList{At: time.Now(), Shell: os.Getppid(), Server: sh.URL, Session: string(sh.Session), List: list}
}

// keepList stores the ids of a list that is about to be shown.
func (sh *Shell) keepList(list string, ids []string) error {
	path, err := listsPath()
	if err != nil {
		return err
	}
	shown := sh.shownList(list)
	shown.IDs = ids[:min(len(ids), maxShownIDs)]
	all := slices.DeleteFunc(shownLists(path, shown.At), shown.same)
	all = append(all[max(0, len(all)-maxShown+1):], shown)
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return wholefile.Replace(path, text) // another command may read the file now
}

// listed returns the id of a row that a list of this shell showed.
func (sh *Shell) listed(list string, number int) (string, error) {
	path, err := listsPath()
	if err != nil {
		return "", err
	}
	want := sh.shownList(list)
	for _, l := range shownLists(path, want.At) {
		switch {
		case !l.same(want):
		case number < 1 || number > len(l.IDs):
			return "", shoal.E("", shoal.NotFound, fmt.Sprintf("Row %d not found: `%s` has listed %d in this terminal.", number, list, len(l.IDs)))
		default:
			return l.IDs[number-1], nil
		}
	}
	return "", shoal.E("", shoal.NotFound, fmt.Sprintf("Row %d not found: `%s` has listed nothing in this terminal yet. It numbers what it lists.", number, list))
}

// resolveNumbers replaces numbers by the ids of the rows that they mean.
func (sh *Shell) resolveNumbers(chosen *kong.Context) error {
	node := chosen.Selected()
	if node == nil {
		return nil
	}
	values := slices.Clone(node.Positional)
	for _, f := range node.Flags {
		values = append(values, f.Value)
	}
	for _, v := range values {
		targets := []reflect.Value{v.Target}
		if v.Target.Kind() == reflect.Slice {
			targets = nil
			for i := range v.Target.Len() {
				targets = append(targets, v.Target.Index(i))
			}
		}
		for _, t := range targets {
			list, is := numbered[t.Type()]
			if !is {
				continue
			}
			number, err := strconv.Atoi(t.String())
			if err != nil {
				continue
			}
			id, err := sh.listed(list, number)
			if err != nil {
				return err
			}
			t.SetString(id)
		}
	}
	return nil
}
