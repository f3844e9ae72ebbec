package limit

// Remembered returns the number of keys that r remembers.
func Remembered[K comparable](r *Rates[K]) int { return len(r.young) + len(r.old) }

// KeysOpen returns the number of keys that o remembers.
func KeysOpen(o *Open) int { return len(o.open) }
