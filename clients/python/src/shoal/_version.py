"""The version of this package. Its first two numbers are the version of the API."""

VERSION = "1.0.0"
API_VERSION = VERSION.rpartition(".")[0]
