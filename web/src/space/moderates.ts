// What the reader may change in a space, as the server decides it.
import { useQuery } from "@tanstack/react-query";
import { api } from "@/api/client";
import type { Space } from "@shoal-dev/client";
import { useConsole } from "@/app/console";

interface SpaceRights {
  /** The reader deletes what others have written: it manages the session, or is a moderator where the session has them. */
  readonly moderates: boolean;
  /** The reader changes the space and its members, which a session can reserve for moderators. */
  readonly changes: boolean;
}

/** The rights of the reader in a space. Until the session is known, those of one without moderators. */
export function useSpaceRights(space: Space): SpaceRights {
  const { session, actor, may } = useConsole();
  const found = useQuery({ queryKey: ["session", session], enabled: !may("manage") && may("change_space"), staleTime: 60_000, queryFn: () => api.GET("/v1/sessions/{session}", { params: { path: { session } } }) });
  if (may("manage")) return { moderates: true, changes: true };
  const reserved = found.data?.spaceRights === "moderators";
  const moderates = reserved && actor !== null && (may("moderate") || space.ownerId === actor);
  return { moderates, changes: may("change_space") && (!reserved || moderates) };
}
