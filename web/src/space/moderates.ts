// Whether the reader may delete what others have written in a space, as the server decides it.
import { useQuery } from "@tanstack/react-query";
import { api } from "@/api/client";
import type { Space } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useEntity } from "@/live/hooks";

/** Reports whether the reader is a moderator of a space: an admin, an owner of the session, or, where the session reserves changes for moderators, the owner of the space or an admin of the session. */
export function useModerates(space: Space): boolean {
  const { session, actor, admin } = useConsole();
  const role = useEntity(actor ?? "")?.sessionRole;
  const manages = admin || role === "owner";
  const where = !manages && actor !== null && (role === "admin" || space.ownerId === actor);
  const found = useQuery({ queryKey: ["session", session], enabled: where, staleTime: 60_000, queryFn: () => api.GET("/v1/sessions/{session}", { params: { path: { session } } }) });
  return manages || (where && found.data?.spaceRights === "moderators");
}
