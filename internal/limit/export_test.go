package limit

// Remembered returns how many keys r holds.
func Remembered[K comparable](r *Rates[K]) int { return len(r.young) + len(r.old) }

// KeysOpen returns how many keys o holds.
func KeysOpen(o *Open) int { return len(o.open) }
