// The query keys that several parts of the settings share.

/** All keys of the server. */
export const keysKey = ["keys"] as const;
/** The browsers that are signed in. */
export const signInsKey = ["sign-ins"] as const;
/** The entities of a session. */
export const entitiesKey = (session: string) => [session, "all-entities"] as const;
