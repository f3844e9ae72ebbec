// Where a visit begins.
import { Navigate } from "@tanstack/react-router";
import { useConsole } from "@/app/console";
import { firstSpace, lastSpace } from "./first-space";
import { SpacesPage } from "./spaces-page";
import { useGroups } from "./use-rows";
import { useWide } from "./wide";

/** The first page of a visit. On a phone, later visits begin with the list of spaces. */
export function Landing() {
  const { session, actor } = useConsole();
  const groups = useGroups();
  const wide = useWide();
  const last = lastSpace(session, actor);
  const space = firstSpace(groups, last)?.space.id;
  if (space === undefined) return <SpacesPage />;
  if (!wide && last !== null) return <Navigate to="/s/$session/spaces" params={{ session }} replace />;
  return <Navigate to="/s/$session/spaces/$space" params={{ session, space }} replace />;
}
