package archive

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// ImportOptions say how a session is imported.
type ImportOptions struct {
	// Replace lets a session that has something in it give way.
	Replace bool
	// PausePlans imports plans that are pending as paused.
	PausePlans bool
}

const (
	// importLines and importBytes bound what one transaction of an import stores, and
	// so how long others wait for it.
	importLines = 256
	importBytes = 1 << 20
	// importTimeout is how long an import may make no progress before its leftovers
	// are taken for those of one that was given up.
	importTimeout = 3 * time.Minute
	// maxKnownRefs is how many records are remembered as being there.
	maxKnownRefs = 20_000
)

// Import reads an export and makes the session id of it, with the ids, places and
// times of the export. Nobody sees anything of it before all of it was read and
// found right: until then it is hidden, and what fails leaves nothing behind. Other
// changes go on meanwhile, in between.
//
// A session that exists gives way only when it is empty, or with Replace; its keys
// stay. Conflict otherwise. A deleted one stays deleted: AlreadyExists.
//
// Runs that were queued or running at the time of the export are canceled: where they
// come from they may have gone on. Runs that wait go on waiting, and can be answered.
//
// InvalidArgument says which line of the export is wrong. Errors of r are returned.
// Admins only.
func (a *Archive) Import(ctx context.Context, who shoal.Principal, id shoal.SessionID, r io.Reader, o ImportOptions) (shoal.Imported, error) {
	const op = "hub.Archive.Import"
	if err := errors.Join(core.CheckSession(who, id), core.RequireAdmin(who), shoal.CheckID("session", string(id))); err != nil {
		return shoal.Imported{}, core.Wrap(op, core.FirstError(err))
	}
	in := newExportReader(r)
	head, err := in.readHead()
	if err != nil {
		return shoal.Imported{}, core.Wrap(op, err)
	}
	im := &importer{core: a.core, in: in, from: head.Session, id: id, stage: id, options: o, token: rand.Text(), knownRefs: map[string]bool{}}
	if err := im.beginImport(ctx); err != nil {
		return shoal.Imported{}, core.Wrap(op, err)
	}
	result, err := im.storeAll(ctx)
	if err != nil {
		// The client may be gone; what it left must go all the same.
		if err := a.dropImport(context.WithoutCancel(ctx), im.stage); err != nil {
			a.core.Log.Error("what a failed import left could not be erased; it is tried again", "session", im.stage, "error", err)
		}
	}
	return result, core.Wrap(op, err)
}

// importer is an import under way.
type importer struct {
	core      *core.Core
	in        *exportReader
	from      shoal.SessionID // where the export is from
	id        shoal.SessionID // what it becomes
	stage     shoal.SessionID // the hidden session that it is until then
	token     string
	options   ImportOptions
	session   shoal.Session
	knownRefs map[string]bool // keys of records that are there
}

// begin makes the hidden session.
func (im *importer) beginImport(ctx context.Context) error {
	return im.core.Change(ctx, "", func(ch *core.Change) error {
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
				"The session id %q belongs to a session that was deleted, or is just being imported; ids are never used again. Import it under another id.", im.id))
		}
		return err
	})
}

// mayReplace refuses to replace a session that has something in it, unless that is
// asked for.
func (im *importer) mayReplace(tx Tx) error {
	empty, err := tx.EmptySession(im.id)
	if err == nil && !empty && !im.options.Replace {
		err = shoal.E("", shoal.Conflict, fmt.Sprintf(
			"The session %q exists and is not empty. Import the export under another id, or ask to replace what is there.", im.id))
	}
	return err
}

// run stores all records and shows the session.
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

// importLine is a record that was read.
type importLine struct {
	number int
	t      *storage.RecordType
	values []any
}

// readBatch reads the records of one transaction, and reports whether there may be
// more.
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
	err := im.core.Change(ctx, "", func(ch *core.Change) error {
		found = nil
		err := ch.TouchImport(im.stage, im.token, ch.At)
		if errors.Is(err, shoal.NotFound) {
			return shoal.E("", shoal.Busy, "The import took too long, or the server was started again meanwhile. Nothing was imported; try again.")
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

// insert stores a record whose references are there, and returns their keys.
func (im *importer) insertRecord(tx Tx, line importLine) (found []string, err error) {
	for _, ref := range line.t.Refs {
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
			return nil, lineError(line.number, "its %s refers to a %s that is not in front of it: %q", ref.Fields[len(ref.Fields)-1], ref.To, storage.Shorten(fmt.Sprint(key...)))
		}
		found = append(found, name)
	}
	err = tx.InsertRecord(im.stage, line.t, line.values)
	if errors.Is(err, shoal.AlreadyExists) {
		return nil, lineError(line.number, "the %s is there twice, or takes the place of another", line.t.Name)
	}
	return found, err
}

// end shows the session and ends what was under way in it.
func (im *importer) endImport(ctx context.Context) error {
	return im.core.Change(ctx, "", func(ch *core.Change) error {
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
		ch.Notify(core.WorkTopic)
		ch.Notify(core.DueTopic)
		if im.stage != im.id {
			ch.OnCommit(func() { im.core.Calls.EndSession(im.id) }) // they follow what is no more
		}
		return nil
	})
}

// dropImport erases a hidden session, a part at a time.
func (a *Archive) dropImport(ctx context.Context, stage shoal.SessionID) error {
	for left := true; left; {
		err := a.core.Store.Update(ctx, func(tx storage.Tx) (err error) {
			left, err = tx.DropImport(stage)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dropStaleImports erases what imports that were last felt before a time have left.
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

// sweepImports erases, until ctx ends, what imports have left that make no progress:
// those that an earlier process did not end, above all. One of another process goes
// on.
func (a *Archive) sweepImports(ctx context.Context) {
	drop := func(ctx context.Context) error {
		return a.dropStaleImports(ctx, shoal.At(time.Now().Add(-importTimeout)))
	}
	if err := drop(ctx); err != nil && ctx.Err() == nil {
		a.core.Log.Error("what an unfinished import left could not be erased; it is tried again", "error", err)
	}
	a.core.Repeat(ctx, time.Minute, "imports that were given up", drop)
}

// Start starts the task that erases what unfinished imports left.
func (a *Archive) Start() { a.core.Go(a.sweepImports) }
