package core

import (
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/naming"
)

// CheckEntityName rejects a new name of an entity if it has hidden characters, is reserved,
// or, for an agent, can be mistaken for a person's name or id. Names that are already
// stored are not checked.
func CheckEntityName(tx Tx, e shoal.Entity) error {
	check := naming.CheckReserved
	if e.ID == shoal.Operator && e.Kind == shoal.Human {
		check = naming.Check
	}
	if err := check("name", e.Name); err != nil || e.Kind != shoal.Agent {
		return err
	}
	people, err := tx.HumanNames(e.SessionID)
	if err != nil {
		return err
	}
	key, namesake := naming.Key(e.Name), shoal.EntityID("")
	for id, name := range people {
		if id != e.ID && (namesake == "" || id < namesake) && (key == naming.Key(name) || key == naming.Key(string(id))) {
			namesake = id
		}
	}
	if namesake != "" {
		return shoal.E("", shoal.Conflict, fmt.Sprintf("An agent cannot be called %q: it reads like @%s, who is a person. Give it another name.", e.Name, namesake))
	}
	return nil
}
