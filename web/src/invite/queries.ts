// The query keys of invitations.

/** The invitations of a session that were not accepted yet. */
export const invitesKey = (session: string) => [session, "invites"] as const;
