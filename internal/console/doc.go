// Package console serves the console: the web pages that are built from web/ and
// embedded here, and their sign-in.
//
//	c, err := console.New(console.Options{Auth: a, Guard: g, Pages: console.Built(), Else: rest.Handler()})
//	link, err := c.Link("http://127.0.0.1:7462") // opens the console once, as an admin
//	server := &http.Server{Handler: g.Wrap(c.Handler())}
//
// Guarantees:
//   - A link holds its code in the fragment, which no browser sends: it is in no
//     request line, no log and no Referer. A code has 256 random bits, is kept in
//     memory as its hash only, works once, and for ten minutes.
//   - A browser that signs in gets a key in a cookie that no script can read and no other
//     site's page can use. It is a key like any other: listed, revocable, expiring.
//   - Every answer has a policy under which a browser runs the console's own
//     scripts and nothing else, and loads nothing from elsewhere.
//   - A path that the pages know is answered with index.html, so that it can be
//     reloaded and shared; a file that is missing is 404. Files below /assets/ have
//     the hash of their content in their names and are kept by browsers for good; all
//     others, the service worker among them, are revalidated each time.
//   - Requests that are not for the console go to Else.
//
// The package requires a guard.Guard around its handler, which reads the bodies.
package console
