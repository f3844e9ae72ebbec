// Package sigv4 signs requests as AWS does, with Signature Version 4.
package sigv4

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	algorithm = "AWS4-HMAC-SHA256"
	timeForm  = "20060102T150405Z"
	dateForm  = "20060102"
)

// Credentials are the keys of an identity. SessionToken is empty for keys that do not end.
type Credentials struct {
	AccessKeyID, SecretAccessKey, SessionToken string
}

// Sign sets the headers X-Amz-Date, X-Amz-Security-Token and Authorization of a request with
// the given body. Signed are the method, the path, the query, the body, the host, the content
// type and all headers that begin with X-Amz-; they must not change afterwards. The path has
// to be normal, without . and .. in it: it is signed as it is sent.
func Sign(req *http.Request, body []byte, c Credentials, region, service string, at time.Time) {
	at = at.UTC()
	req.Header.Set("X-Amz-Date", at.Format(timeForm))
	req.Header.Del("X-Amz-Security-Token")
	if c.SessionToken != "" {
		req.Header.Set("X-Amz-Security-Token", c.SessionToken)
	}
	headers, names := canonicalHeaders(req)
	canonical := strings.Join([]string{
		req.Method, canonicalPath(req.URL), canonicalQuery(req.URL), headers, names, sum(body),
	}, "\n")
	scope := strings.Join([]string{at.Format(dateForm), region, service, "aws4_request"}, "/")
	text := strings.Join([]string{algorithm, at.Format(timeForm), scope, sum([]byte(canonical))}, "\n")
	key := []byte("AWS4" + c.SecretAccessKey)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	req.Header.Set("Authorization", algorithm+" Credential="+c.AccessKeyID+"/"+scope+", SignedHeaders="+names+", Signature="+hex.EncodeToString(mac(key, text)))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func sum(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}

// canonicalPath escapes the path once more than it is sent.
func canonicalPath(u *url.URL) string {
	path := u.EscapedPath()
	if path == "" {
		return "/"
	}
	return escape(path, "/")
}

func canonicalQuery(u *url.URL) string {
	var pairs []string
	for name, values := range u.Query() {
		for _, v := range values {
			pairs = append(pairs, escape(name, "")+"="+escape(v, ""))
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "&")
}

// canonicalHeaders returns the lines of the headers that are signed, and their names.
func canonicalHeaders(req *http.Request) (lines, names string) {
	host := req.Host
	if host == "" {
		host = req.URL.Host
	}
	signed := map[string]string{"host": host}
	for name, values := range req.Header {
		if name = strings.ToLower(name); name != "content-type" && !strings.HasPrefix(name, "x-amz-") {
			continue
		}
		trimmed := make([]string, len(values))
		for i, v := range values {
			trimmed[i] = strings.Join(strings.Fields(v), " ")
		}
		signed[name] = strings.Join(trimmed, ",")
	}
	sorted := slices.Sorted(maps.Keys(signed))
	var b strings.Builder
	for _, name := range sorted {
		b.WriteString(name + ":" + signed[name] + "\n")
	}
	return b.String(), strings.Join(sorted, ";")
}

// escape writes every byte that is not unreserved, nor in kept, as %XX.
func escape(text, kept string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~"+kept, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', digits[c>>4], digits[c&15]})
	}
	return b.String()
}
