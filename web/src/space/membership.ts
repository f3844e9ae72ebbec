// Whether an entity is in a space, also if the space lists only some of its members.
import { useQuery } from "@tanstack/react-query";
import { api } from "@/api/client";
import { listsAll, ShoalError, type Space } from "@shoal-dev/client";
import { isMember } from "./order";
import { pathOf } from "./path-of";

/** Whether an entity is a member of a space; undefined until the server has said so. */
export function useMembership(space: Space | undefined, entity: string): boolean | undefined {
  const listed = space !== undefined && isMember(space, entity);
  const unknown = space !== undefined && !listed && !listsAll(space);
  const asked = useQuery({
    queryKey: ["member", space?.sessionId, space?.id, space?.memberCount, entity],
    enabled: unknown,
    queryFn: async () => {
      if (space === undefined) return false;
      try {
        await api.GET("/v1/sessions/{session}/spaces/{space}/members/{entity}", { params: { path: { ...pathOf(space).path, entity } } });
        return true;
      } catch (error) {
        if (error instanceof ShoalError && error.code === "not_found") return false;
        throw error;
      }
    },
  });
  return unknown ? asked.data : listed;
}
