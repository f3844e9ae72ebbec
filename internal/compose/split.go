package compose

// Split separates the deltas, which are relayed, from the effects that are stored.
// Deltas before the first stored effect are relayed before the transaction. All others
// are relayed after it, as far as their text survives the transaction: readers know how
// much of a part they have.
func Split(effects []Effect) (before, stored, after []Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case AppendPart:
			if len(stored) == 0 {
				before = append(before, e)
			} else {
				after = append(after, e)
			}
			continue
		case ResetPart:
			after = truncate(after, e.Place, e.Offset)
		case RemovePart:
			after = truncate(after, e.Place, 0)
		}
		stored = append(stored, e)
	}
	return before, stored, after
}

// truncate removes from deltas the text of a part after an offset.
func truncate(deltas []Effect, place *PartRef, offset int) []Effect {
	var kept []Effect
	for _, e := range deltas {
		d := e.(AppendPart)
		if d.Place.Part == place.Part {
			if d.Delta = d.Delta[:min(len(d.Delta), max(0, offset-d.Offset))]; d.Delta == "" {
				continue
			}
		}
		kept = append(kept, d)
	}
	return kept
}
