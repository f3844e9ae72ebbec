package app

import (
	"fmt"

	"github.com/shoal-dev/shoal/internal/auditlog"
	"github.com/shoal-dev/shoal/internal/hub/core"
)

// The values of Config.Audit.
const (
	auditRequired = "required"
	auditOff      = "off"
)

// openAuditLog opens the file that the audit log is copied to, if there is one, and returns the options
// of the audit log.
func (s *Server) openAuditLog() (core.AuditOptions, error) {
	o := core.AuditOptions{Off: s.config.Audit == auditOff, Required: s.config.Audit == auditRequired}
	if s.config.AuditLog == "" || o.Off {
		return o, nil
	}
	file, err := auditlog.Open(s.config.AuditLog, s.config.Log)
	if err != nil {
		return o, fmt.Errorf("open the file of --audit-log: %w", err)
	}
	s.auditLog = file
	o.Copy = file
	return o, nil
}

// closeAuditLog closes the file of the audit log, after everything that records.
func (s *Server) closeAuditLog() {
	if s.auditLog == nil {
		return
	}
	if err := s.auditLog.Close(); err != nil {
		s.config.Log.Error("the audit log could not be written completely", "error", err)
	}
}
