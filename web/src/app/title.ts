// The title of the tab names the page, and says how much waits for the person.
import { useLocation } from "@tanstack/react-router";
import { useEffect } from "react";
import { usePending, useSpaces } from "@/live/hooks";
import { places } from "./places";

export function useTitle(): void {
  const waiting = usePending().filter((p) => p.status === "open").length;
  const spaces = useSpaces();
  const name = pageName(useLocation().pathname, (id) => spaces.find((s) => s.id === id)?.name);
  const n = waiting + spaces.reduce((sum, s) => sum + s.mentionCount, 0);
  useEffect(() => {
    document.title = `${n > 0 ? `(${n}) ` : ""}${name === undefined ? "" : `${name} · `}Shoal`;
  }, [n, name]);
}

/** The name of the page at a path: that of the space, or of its place in the navigation. */
export function pageName(path: string, spaceName: (id: string) => string | undefined): string | undefined {
  const [, , , page, id] = path.split("/");
  if (page === "spaces") return id === undefined ? "Spaces" : spaceName(decodeURIComponent(id));
  return places.find((p) => p.to.endsWith(`/${page ?? ""}`))?.name;
}
