package spacetool

// SharedSince is sharedSince for tests.
var SharedSince = sharedSince
