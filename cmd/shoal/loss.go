package main

// loss tells a person once that the connection is lost.
type loss struct {
	output *output
	away   bool
}

func (l *loss) told(cause error) {
	if !l.away {
		l.output.note("%s; trying again", errorText(cause))
	}
	l.away = true
}

func (l *loss) over() { l.away = false }
