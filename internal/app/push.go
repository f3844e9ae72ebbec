package app

import (
	"strings"

	"github.com/shoal-dev/shoal/internal/webpush"
)

// project is the contact for push services of a server without a public address.
const project = "https://github.com/shoal-dev/shoal"

// notify starts sending notifications to browsers. It needs the address of the server.
func (s *Server) notify() {
	contact := s.origin()
	if !strings.HasPrefix(contact, "https:") {
		contact = project
	}
	s.push = webpush.New(webpush.Options{Hub: s.Hub, Client: s.network.Client(), Contact: contact, Log: s.config.Log})
	s.push.Start()
}
