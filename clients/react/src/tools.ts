// Client tools that a page executes.
import { useEffect, useRef } from "react";
import type { ClientTool, ClientToolOptions } from "@shoal-dev/client/tools";
import { useSession } from "./provider.js";

/**
 * Executes the calls of a client tool while the component is mounted. By default these are
 * those of runs that the person's own messages led to; `mine: false` executes all of them.
 * A call is executed by one tab of the browser; one that is in progress when the component is
 * unmounted is aborted, and executed again by the next.
 */
export function useTool<Args = any>(name: string, handler: ClientTool<Args>, { space, mine = true, onError }: ClientToolOptions = {}): void {
  const session = useSession();
  const latest = useRef({ handler, onError });
  useEffect(() => void (latest.current = { handler, onError }));
  useEffect(() => {
    const current: ClientTool<Args> = (args, call) => latest.current.handler(args, call);
    return session.onTool(name, current as ClientTool, { ...(space !== undefined && { space }), mine, onError: (error) => latest.current.onError?.(error) });
  }, [session, name, space, mine]);
}
