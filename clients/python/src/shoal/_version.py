"""The version of this package. Its major version is that of the API."""

VERSION = "1.0.0"
