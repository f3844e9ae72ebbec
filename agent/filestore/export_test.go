package filestore

// Held returns how many conversations are in memory, and the size of their journals.
func (s *Store) Held() (conversations int, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.journals {
		size += j.size
	}
	return len(s.journals), size
}
