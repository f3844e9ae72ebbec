// Loads pages of a timeline, and shares them with all tabs.
import { api } from "@/api/client";
import type { Message } from "@shoal-dev/client";
import type { Store } from "@shoal-dev/client/live";

const pageSize = 50;

/** Where a page lies in a timeline, by `seq`. */
export type Place = { readonly before: number } | { readonly after: number };

/** Loads the page before or after a place, and returns once this tab has it. */
export async function loadPage(store: Store, session: string, space: string, place: Place): Promise<readonly Message[]> {
  const page = await api.GET("/v1/sessions/{session}/spaces/{space}/messages", {
    params: { path: { session, space }, query: { ...place, limit: pageSize } },
  });
  await shareMessages(store, space, page.items);
  return page.items;
}

/** Loads what stands round a message. */
export function loadAround(store: Store, session: string, space: string, seq: number): Promise<readonly Message[]> {
  return loadPage(store, session, space, { after: Math.max(0, seq - pageSize / 2) });
}

// The way to the tab's own copy leads through the switchboard. What is here already
// may be newer than the page: it stays.
function shareMessages(store: Store, spaceId: string, page: readonly Message[]): Promise<void> {
  const messages = page.filter((m) => !store.live.messages.has(m.id));
  const last = messages[messages.length - 1];
  if (last === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = store.subscribe(`message:${last.id}`, () => {
      stop();
      resolve();
    });
    store.share([{ type: "local.older", spaceId, messages }]);
  });
}
