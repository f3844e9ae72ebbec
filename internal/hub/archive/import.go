package archive

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// ImportOptions controls how a session is imported.
type ImportOptions struct {
	// Replace allows the import to replace a session that is not empty.
	Replace bool
	// PausePlans imports pending plans as paused.
	PausePlans bool
}

const (
	// importLines and importBytes bound what one transaction of an import stores, and so
	// how long other changes wait for it.
	importLines = 256
	importBytes = 1 << 20
	// importTimeout is how long an import may make no progress before it counts as
	// abandoned and its remains are erased.
	importTimeout = 3 * time.Minute
	// maxKnownRefs is the number of records that are remembered to exist.
	maxKnownRefs = 20_000
)

// Import reads an export and creates the session id from it, with the ids, positions and
// times of the export. The session is hidden until the whole export was read and verified;
// an import that fails leaves nothing in the store. Other changes can commit between the
// transactions of the import.
//
// An existing session is replaced only if it is empty or with Replace; its keys remain.
// Otherwise Import fails with Conflict. It fails with AlreadyExists for the id of a deleted
// session.
//
// Runs that were queued or running at the time of the export are canceled, because they may
// have continued on the server that they come from. Suspended runs stay suspended and can
// be answered.
//
// InvalidArgument says which line of the export is invalid. Errors of r are returned.
// Admins only.
func (a *Archive) Import(ctx context.Context, caller shoal.Principal, id shoal.SessionID, r io.Reader, o ImportOptions) (shoal.Imported, error) {
	const op = "hub.Archive.Import"
	if err := errors.Join(core.CheckSession(caller, id), core.RequireAdmin(caller), shoal.CheckID("session", string(id))); err != nil {
		return shoal.Imported{}, core.Wrap(op, core.FirstError(err))
	}
	in := newExportReader(r)
	head, err := in.readHead()
	if err != nil {
		return shoal.Imported{}, core.Wrap(op, err)
	}
	im := &importer{core: a.core, caller: caller, in: in, from: head.Session, id: id, stage: id, options: o, token: rand.Text(), knownRefs: map[string]bool{}}
	if err := im.beginImport(ctx); err != nil {
		return shoal.Imported{}, core.Wrap(op, err)
	}
	result, err := im.storeAll(ctx)
	if err != nil {
		// The context may have ended; the hidden session must be erased nevertheless.
		if err := a.dropImport(context.WithoutCancel(ctx), im.stage); err != nil {
			a.core.Log.Error("the remains of a failed import could not be erased; retrying later", "session", im.stage, "error", err)
		}
	}
	return result, core.Wrap(op, err)
}

// importer is an import in progress.
type importer struct {
	core      *core.Core
	caller    shoal.Principal
	in        *exportReader
	from      shoal.SessionID // the session that was exported
	id        shoal.SessionID // the session to create
	stage     shoal.SessionID // the hidden session until then
	token     string
	options   ImportOptions
	session   shoal.Session
	knownRefs map[string]bool // keys of records that exist
}

// beginImport creates the hidden session.
func (im *importer) beginImport(ctx context.Context) error {
	return im.core.Change(ctx, "", storage.Global, func(ch *core.Change) error {
		im.stage = im.id
		switch _, err := ch.Session(im.id); {
		case err == nil:
			if err := im.mayReplace(ch); err != nil {
				return err
			}
			im.stage = shoal.NewID[shoal.SessionID](shoal.PrefixSession)
		case !errors.Is(err, shoal.NotFound):
			return err
		}
		err := ch.BeginImport(im.stage, im.token, ch.At)
		if errors.Is(err, shoal.AlreadyExists) {
			return shoal.E("", shoal.AlreadyExists, fmt.Sprintf(
				"The session id %q belongs to a session that was deleted or that is being imported; ids are never reused. Import the export under another id.", im.id))
		}
		return err
	})
}

// mayReplace fails with Conflict if the existing session is not empty and Replace is not
// set.
func (im *importer) mayReplace(tx Tx) error {
	empty, err := tx.EmptySession(im.id)
	if err == nil && !empty && !im.options.Replace {
		err = shoal.E("", shoal.Conflict, fmt.Sprintf(
			"The session %q exists and is not empty. Import the export under another id, or replace the session.", im.id))
	}
	return err
}

// storeAll stores all records and publishes the session.
func (im *importer) storeAll(ctx context.Context) (shoal.Imported, error) {
	for more := true; more; {
		var batch []importLine
		var err error
		if batch, more, err = im.readBatch(); err != nil {
			return shoal.Imported{}, err
		}
		if err := im.storeBatch(ctx, batch); err != nil {
			return shoal.Imported{}, err
		}
	}
	if err := im.endImport(ctx); err != nil {
		return shoal.Imported{}, err
	}
	im.core.NotifyPlans()
	return shoal.Imported{Session: im.session, Records: im.in.sum.counts}, nil
}

// importLine is a record that was read, with the number of its line.
type importLine struct {
	number int
	t      *storage.RecordType
	values []any
}

// readBatch reads the records of one transaction, and reports whether there may be more.
func (im *importer) readBatch() (batch []importLine, more bool, err error) {
	for size := 0; len(batch) < importLines && size < importBytes; size += len(im.in.buf) {
		t, values, err := im.in.readRecord()
		if err != nil || t == nil {
			return batch, false, err
		}
		im.adaptRecord(t, values)
		if t == storage.SessionRecord {
			im.session = shoal.Session{
				ID: im.id, Name: values[0].(string), Status: shoal.SessionStatus(values[1].(string)), CreatedAt: values[2].(shoal.Time),
				Limits:      shoal.Limits{MaxCostPerRequest: values[4].(float64), MaxTokensPerRequest: values[5].(int64)},
				SpaceRights: shoal.SpaceRights(values[6].(string)),
				Retention:   shoal.Retention{MessagesForMs: values[7].(int64), RunsForMs: values[8].(int64), PromptsForMs: values[9].(int64)},
			}
			if closed, ok := values[3].(shoal.Time); ok {
				im.session.ClosedAt = &closed
			}
			continue
		}
		batch = append(batch, importLine{im.in.line, t, values})
	}
	return batch, true, nil
}

// store stores a batch in one transaction.
func (im *importer) storeBatch(ctx context.Context, batch []importLine) error {
	var found []string
	err := im.core.Change(ctx, "", storage.In(im.stage), func(ch *core.Change) error {
		found = nil
		err := ch.TouchImport(im.stage, im.token, ch.At)
		if errors.Is(err, shoal.NotFound) {
			return shoal.E("", shoal.Busy, "The import made no progress for too long, or the server was restarted. Nothing was imported; try again.")
		}
		for _, line := range batch {
			if err != nil {
				return err
			}
			var there []string
			there, err = im.insertRecord(ch, line)
			found = append(found, there...)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(im.knownRefs) > maxKnownRefs {
		clear(im.knownRefs)
	}
	for _, key := range found {
		im.knownRefs[key] = true
	}
	return nil
}

// insertRecord stores a record and checks that the records exist that it refers to. It
// returns the keys of those that it had to look up.
func (im *importer) insertRecord(tx Tx, line importLine) (found []string, err error) {
	refs := line.t.Refs
	if line.t.Name == "message" && line.values[line.t.FieldIndex("status")] == string(shoal.MessageStreaming) {
		refs = append(slices.Clip(refs), storage.RecordRef{To: "run", Fields: []string{"runId"}}) // that of a complete one may be gone
	}
	for _, ref := range refs {
		to, _ := storage.FindRecordType(ref.To)
		key := make([]any, len(ref.Fields))
		for i, field := range ref.Fields {
			key[i] = line.values[line.t.FieldIndex(field)]
		}
		if key[0] == nil || key[0] == "" || key[0] == string(shoal.System) {
			continue
		}
		name := fmt.Sprint(ref.To, key)
		if im.knownRefs[name] {
			continue
		}
		there, err := tx.HasRecord(im.stage, to, key)
		if err != nil {
			return nil, err
		}
		if !there {
			return nil, lineError(line.number, "its %s refers to a %s that no earlier line contains: %q", ref.Fields[len(ref.Fields)-1], ref.To, storage.Shorten(fmt.Sprint(key...)))
		}
		found = append(found, name)
	}
	err = tx.InsertRecord(im.stage, line.t, line.values)
	if errors.Is(err, shoal.AlreadyExists) {
		return nil, lineError(line.number, "the %s appears twice, or its position is already taken", line.t.Name)
	}
	return found, err
}

// endImport publishes the session and cancels the runs that were in progress.
func (im *importer) endImport(ctx context.Context) error {
	return im.core.Change(ctx, "", storage.Global, func(ch *core.Change) error {
		if im.stage != im.id {
			if err := im.mayReplace(ch); err != nil {
				return err
			}
		}
		if err := ch.EndImport(im.stage, im.token, im.session); err != nil {
			return err
		}
		active, err := ch.Runs(im.id, storage.RunFilter{Status: []shoal.RunStatus{shoal.RunQueued, shoal.RunRunning}})
		if err != nil {
			return err
		}
		for _, r := range active {
			if _, err := runs.CancelRun(ch, r); err != nil {
				return err
			}
		}
		err = ch.Record(im.caller, im.id, audit.SessionImport, audit.Target{Kind: "session", ID: string(im.id)}, "from", string(im.from), "replaced", strconv.FormatBool(im.stage != im.id))
		if err != nil {
			return err
		}
		ch.Notify(core.WorkTopic)
		ch.Notify(core.DueTopic)
		if im.stage != im.id {
			ch.OnCommit(func() { im.core.Calls.EndSession(im.id) }) // they read the session that was replaced
		}
		return nil
	})
}

// dropImport erases a hidden session in small transactions.
func (a *Archive) dropImport(ctx context.Context, stage shoal.SessionID) error {
	for left := true; left; {
		err := a.core.Store.Update(ctx, storage.In(stage), func(tx storage.Tx) (err error) {
			left, err = tx.DropImport(stage)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dropStaleImports erases the hidden sessions of imports that made no progress since
// before.
func (a *Archive) dropStaleImports(ctx context.Context, before shoal.Time) error {
	var left []shoal.SessionID
	err := a.core.Store.View(ctx, func(tx storage.Tx) (err error) {
		left, err = tx.Imports(before)
		return err
	})
	for _, stage := range left {
		err = errors.Join(err, a.dropImport(ctx, stage))
	}
	return err
}

// sweepImports erases the remains of abandoned imports until ctx ends, mainly those of an
// earlier process. An import that another process is running is not affected.
func (a *Archive) sweepImports(ctx context.Context) {
	drop := func(ctx context.Context) error {
		return a.dropStaleImports(ctx, shoal.At(time.Now().Add(-importTimeout)))
	}
	if err := drop(ctx); err != nil && ctx.Err() == nil {
		a.core.Log.Error("the remains of an unfinished import could not be erased; retrying later", "error", err)
	}
	a.core.Repeat(ctx, time.Minute, "abandoned imports", drop)
}

// Start starts the task that erases what unfinished imports left. It ends when the hub
// stops.
func (a *Archive) Start() { a.core.Go(a.sweepImports) }
