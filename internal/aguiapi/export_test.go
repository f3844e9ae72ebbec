package aguiapi

// InputBounds is the table of the bounds of an input.
var InputBounds = inputBounds
