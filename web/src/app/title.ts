// The title of the tab names the page, and says how much waits for the person.
import { useLocation } from "@tanstack/react-router";
import { useEffect } from "react";
import { useEntities, usePending, useSpaces } from "@/live/hooks";
import { places } from "./places";

export function useTitle(): void {
  const waiting = usePending().filter((p) => p.status === "open").length;
  const spaces = useSpaces();
  const entities = useEntities();
  const name = pageName(useLocation().pathname, (page, id) => (page === "spaces" ? spaces : entities).find((s) => s.id === id)?.name);
  const n = waiting + spaces.reduce((sum, s) => sum + s.mentionCount, 0);
  useEffect(() => {
    document.title = `${n > 0 ? `(${n}) ` : ""}${name === undefined ? "" : `${name} · `}Shoal`;
  }, [n, name]);
}

/** The name of the page at a path: that of the space or agent, or of its place in the navigation. */
export function pageName(path: string, nameOf: (page: "spaces" | "agents", id: string) => string | undefined): string | undefined {
  const [, , , page, id] = path.split("/");
  if (page === "spaces") return id === undefined ? "Spaces" : nameOf(page, decodeURIComponent(id));
  const place = places.find((p) => p.to.endsWith(`/${page ?? ""}`))?.name;
  return page === "agents" && id !== undefined ? (nameOf(page, decodeURIComponent(id)) ?? place) : place;
}
