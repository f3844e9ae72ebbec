package hub

// SaveRequest is that of a run's change.
func SaveRequest(tx Tx, r StoredRun, s SentRequest) error {
	return (&RunChange{change: &change{Tx: tx}, Run: &r}).SaveRequest(s)
}
