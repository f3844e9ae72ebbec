/** The version of this package. Its first two numbers are the version of the API. */
export const version = "1.0.0";

/** The header that names the version of the API: that of the client in requests, the server's in responses. */
export const versionHeader = "X-Shoal-Api";

/** The version of the API that this package was built for. */
export const apiVersion = version.split(".", 2).join(".");
