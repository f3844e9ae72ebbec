import type { Space } from "@shoal-dev/client";

/** The path parameters of a space's calls. */
export const pathOf = (space: Space) => ({ path: { session: space.sessionId, space: space.id } });
