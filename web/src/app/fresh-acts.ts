// What the reader may do follows its role, which others change. Used by the pages that offer
// something by it, and not by the shell, which has no room.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useConsole } from "./console";
import { callerKey } from "./identity";
import { useEntity } from "@/live/hooks";

let known: string | undefined;

/** Reads the caller again when the role of the entity that acts has changed. */
export function useFreshActs(): void {
  const { actor } = useConsole();
  const queries = useQueryClient();
  const role = useEntity(actor ?? "")?.sessionRole;
  useEffect(() => {
    if (role === undefined || role === known) return;
    if (known !== undefined) void queries.invalidateQueries({ queryKey: callerKey });
    known = role;
  }, [role, queries]);
}
