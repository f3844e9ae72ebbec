package openai_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
)

// serveSearch plays the transcript of an answer with a search.
func serveSearch() (url string, stop func()) {
	text, err := os.ReadFile("testdata/responses_web_search.txt")
	if err != nil {
		panic(err)
	}
	_, events, _ := bytes.Cut(text, []byte("\n----\n"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(events) // the reader notices a cut
	}))
	return server.URL + "/v1", server.Close
}
