/** The version of this package. Its major version is that of the API. */
export const version = "1.0.0";
