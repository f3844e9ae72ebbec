// The world around a component in a test: a session, its live state fed by events,
// and a router that knows where links lead. Nothing of it asks a server.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { act, render, type RenderResult } from "@testing-library/react";
import type { ReactNode } from "react";
import type { Caller, Entity, LiveEvent, Message, Space } from "@shoal-dev/client";
import { ConsoleContext } from "@/app/console";
import { LiveContext } from "@/live/hooks";
import { Store } from "@shoal-dev/client/live";

const at = "2026-11-20T10:00:00.000Z";
const me: Caller = { role: "entity", entityId: "ann", keyId: "key_1", sessionId: "default", scopes: [], signInId: null, acts: [] };

export interface World extends RenderResult {
  readonly store: Store;
  /** Delivers events as the stream does; resolves when they are rendered. */
  emit(...events: LiveEvent[]): Promise<void>;
}

/** What a stream begins with: one space, its messages, and who there is. */
export function beginning(space: Space, messages: readonly Message[], entities: readonly Entity[]): LiveEvent[] {
  return [
    { type: "snapshot", at, cursor: "1", spaceId: space.id, runId: null, space, members: space.members, messages },
    { type: "snapshot.end", at, cursor: "1", spaceId: null, runId: null } as LiveEvent,
    { type: "local.loaded", entities, pending: [], runs: [] },
  ];
}

/** Draws a component as ann sees it. */
export async function show(ui: ReactNode, events: readonly LiveEvent[]): Promise<World> {
  const store = new Store({ session: "default", entity: "ann" }, () => undefined);
  store.connection = { state: "live" };
  for (const event of events) store.live.apply(event);
  const around = () => (
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <ConsoleContext value={{ me, session: "default", actor: "ann", admin: false, may: () => true, setActor: () => undefined }}>
        <LiveContext value={store}>{ui}</LiveContext>
      </ConsoleContext>
    </QueryClientProvider>
  );
  const root = createRootRoute();
  const home = createRoute({ getParentRoute: () => root, path: "/", component: around });
  const router = createRouter({ routeTree: root.addChildren([home]), history: createMemoryHistory({ initialEntries: ["/"] }) });
  let shown: RenderResult | undefined;
  await act(async () => {
    await router.load();
    shown = render(<RouterProvider router={router as never} />);
  });
  if (shown === undefined) throw new Error("nothing was drawn");
  const emit = (...more: LiveEvent[]) =>
    act(async () => {
      store.receive({ kind: "events", events: more });
      // The store notifies its listeners once per frame.
      await new Promise((done) => setTimeout(done, document.visibilityState === "visible" ? 40 : 300));
    });
  return { ...shown, store, emit };
}
