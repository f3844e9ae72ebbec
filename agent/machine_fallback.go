package agent

import "strings"

// fallsBack reports whether another model can succeed after a failure of the class. The
// other classes are mistakes of the configuration or of the request, which another model
// would hide.
func (c ErrorClass) fallsBack() bool {
	return c.retryable() || c == ClassContextOverflow || c == ClassQuota
}

// fallBack makes another attempt with the next model of a [Fallback] after the failure of
// the present one, and reports whether there is one that can succeed.
func (m *machine) fallBack(err error, class ErrorClass) bool {
	if m.failed == nil || !class.fallsBack() {
		return false
	}
	m.failed[m.model] = err
	window := 0
	if class == ClassContextOverflow {
		window = m.rules.models[m.model].Window
	}
	for i, info := range m.rules.models {
		if m.failed[i] != nil || info.Window > 0 && info.Window <= window {
			continue
		}
		m.model = i
		m.uncounted++
		m.retry(err, 0)
		return true
	}
	return false
}

// startOver begins with the first model again after every model has failed, except for the
// failures that waiting does not mend.
func (m *machine) startOver() {
	for i := len(m.failed) - 1; i >= 0; i-- {
		if m.failed[i] == nil || classOf(m.failed[i]).retryable() {
			m.failed[i], m.model = nil, i
		}
	}
}

// historyFits lets the models be called again that the history was too long for.
func (m *machine) historyFits() {
	for i, err := range m.failed {
		if err != nil && classOf(err) == ClassContextOverflow {
			m.failed[i] = nil
		}
	}
}

// failure returns the error of the step after the last model has failed with err: that of
// all models, first the one after which another attempt can succeed.
func (m *machine) failure(err error) error {
	if m.failed == nil || m.failed[m.model] == nil {
		return err
	}
	all := &failures{}
	for _, one := range m.failed {
		switch {
		case one == nil:
		case len(all.errs) > 0 && classOf(one).retryable() && !classOf(all.errs[0]).retryable():
			all.errs = append([]error{one}, all.errs...)
		default:
			all.errs = append(all.errs, one)
		}
	}
	return all
}

// failures are the errors of several models.
type failures struct{ errs []error }

// Error returns the errors in one line, for logs.
func (f *failures) Error() string {
	texts := make([]string, 0, len(f.errs))
	for _, err := range f.errs {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns the errors.
func (f *failures) Unwrap() []error { return f.errs }
