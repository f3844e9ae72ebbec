package sqlstore

import (
	"bytes"

	"github.com/shoal-dev/shoal"
)

const noFile = "There is no file %q here."

// InsertFile implements [hub.FileTx].
func (t tx) InsertFile(session shoal.SessionID, f shoal.File, by shoal.EntityID, at shoal.Time, data []byte) error {
	if data == nil {
		data = []byte{} // NULL would be no file
	}
	n, err := t.c.exec(
		`INSERT INTO files (session_id, id, name, media_type, size, url, by_entity, at, data)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
		session, f.ID, f.Name, f.MediaType, f.Size, f.URL, by, at, data)
	if err == nil && n == 0 {
		err = taken("InsertFile", "The file id %q is taken.", f.ID)
	}
	return err
}

// File implements [hub.FileTx].
func (t tx) File(session shoal.SessionID, id shoal.FileID) (f shoal.File, by shoal.EntityID, data []byte, err error) {
	f, ok, err := one(t.c, func(r *rows) shoal.File {
		by = entityID(r)
		data = append([]byte{}, r.bytes(5)...)
		return shoal.File{ID: id, Name: r.text(1), MediaType: r.text(2), Size: r.int(3), URL: r.text(4)}
	}, `SELECT by_entity, name, media_type, size, url, data FROM files WHERE session_id = $1 AND id = $2`, session, id)
	f, err = present(f, ok, err, "File", noFile, id)
	return f, by, data, err
}

// DeleteFile implements [hub.FileTx].
func (t tx) DeleteFile(session shoal.SessionID, id shoal.FileID) error {
	if err := t.overwrite(true); err != nil {
		return err
	}
	n, err := t.c.exec(`DELETE FROM files WHERE session_id = $1 AND id = $2`, session, id)
	if err == nil && n == 0 {
		err = missing("DeleteFile", noFile, id)
	}
	if err != nil {
		return err
	}
	if _, err := t.c.exec(`DELETE FROM file_spaces WHERE session_id = $1 AND file_id = $2`, session, id); err != nil {
		return err
	}
	type answer struct{ scope, route, key string }
	all, err := list(t.c, func(r *rows) answer {
		if !bytes.Contains(r.bytes(3), []byte(`"`+string(id)+`"`)) {
			return answer{}
		}
		return answer{r.text(0), r.text(1), r.text(2)}
	}, `SELECT scope, route, key, body FROM answers WHERE session_id = $1 AND route = 'hub.Files.Upload'`, session)
	for _, a := range all {
		if err != nil {
			return err
		}
		if a.key != "" {
			_, err = t.c.exec(`DELETE FROM answers WHERE session_id = $1 AND scope = $2 AND route = $3 AND key = $4`, session, a.scope, a.route, a.key)
		}
	}
	if err != nil {
		return err
	}
	return t.overwrite(false)
}

// StoredBytes implements [hub.FileTx].
func (t tx) StoredBytes(session shoal.SessionID, by shoal.EntityID) (int64, error) {
	return number(t.c, `SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM files WHERE session_id = $1 AND by_entity = $2`, session, by)
}

// FileHead implements [hub.FileTx].
func (t tx) FileHead(session shoal.SessionID, id shoal.FileID) (f shoal.File, by shoal.EntityID, err error) {
	f, ok, err := one(t.c, func(r *rows) shoal.File {
		by = entityID(r)
		return shoal.File{ID: id, Name: r.text(1), MediaType: r.text(2), Size: r.int(3), URL: r.text(4)}
	}, `SELECT by_entity, name, media_type, size, url FROM files WHERE session_id = $1 AND id = $2`, session, id)
	f, err = present(f, ok, err, "FileHead", noFile, id)
	return f, by, err
}

// ShowFile implements [hub.FileTx].
func (t tx) ShowFile(session shoal.SessionID, id shoal.FileID, space shoal.SpaceID) error {
	n, err := t.c.exec(
		`INSERT INTO file_spaces (session_id, file_id, space_id)
		 SELECT f.session_id, f.id, $3 FROM files AS f WHERE f.session_id = $1 AND f.id = $2 ON CONFLICT DO NOTHING`, session, id, space)
	if err != nil || n > 0 {
		return err
	}
	known, err := exists(t.c, `SELECT 1 FROM files WHERE session_id = $1 AND id = $2`, session, id)
	if err == nil && !known {
		err = missing("ShowFile", noFile, id)
	}
	return err
}

// FileShownTo implements [hub.FileTx].
func (t tx) FileShownTo(session shoal.SessionID, id shoal.FileID, entity shoal.EntityID) (bool, error) {
	return exists(t.c,
		`SELECT 1 FROM file_spaces AS f CROSS JOIN members AS m
		 WHERE f.session_id = $1 AND f.file_id = $2 AND m.session_id = f.session_id AND m.space_id = f.space_id AND m.entity_id = $3`, session, id, entity)
}
