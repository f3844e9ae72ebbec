// The frame of all pages of a session: the entity that acts, the session's stream, and the
// navigation.
import { useQuery } from "@tanstack/react-query";
import { Outlet, useParams } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { actAs, api } from "@/api/client";
import { type Caller, ShoalError } from "@shoal-dev/client";
import { LiveContext, useStore } from "@/live/hooks";
import { Failed, Loading } from "@/ui/placeholder";
import { type Console, ConsoleContext } from "./console";
import { inBrowser } from "./storage";
import { Shell } from "./shell";

const operator = "operator";
const remembered = (session: string) => `shoal.actor.${session}`;

// An admin acts as the entity chosen last, else as the operator if there is one, else as
// none.
async function chooseActor(me: Caller, session: string): Promise<string | null> {
  if (me.role !== "admin") return me.entityId;
  for (const entity of [inBrowser.getItem(remembered(session)), operator]) {
    if (entity === null || entity === "") continue;
    try {
      await api.GET("/v1/sessions/{session}/entities/{entity}", { params: { path: { session, entity } }, headers: { "X-Shoal-Entity": "" } });
      return entity;
    } catch (error) {
      if (ShoalError.from(error).status !== 404) throw error;
    }
  }
  return null;
}

export function SessionFrame({ me }: { me: Caller }) {
  const { session } = useParams({ from: "/s/$session" });
  const chosen = useQuery({ queryKey: ["actor", session], queryFn: () => chooseActor(me, session), staleTime: Infinity, retry: 1 });
  if (chosen.isPending) return <Loading />;
  if (chosen.isError) return <Failed error={chosen.error} retry={() => void chosen.refetch()} />;
  return <Acting key={session} me={me} session={session} first={chosen.data} />;
}

function Acting({ me, session, first }: { me: Caller; session: string; first: string | null }) {
  const [actor, become] = useState(first);
  const admin = me.role === "admin";
  actAs(admin ? actor : null);
  const setActor = useCallback(
    (entity: string | null) => {
      inBrowser.setItem(remembered(session), entity ?? "");
      become(entity);
    },
    [session],
  );
  const console = useMemo<Console>(() => ({ me, session, actor, admin, may: (act) => act === me.role || me.acts.includes(act), setActor }), [me, admin, session, actor, setActor]);
  const store = useStore(session, actor, !admin);
  if (store === null) return <Loading />;
  return (
    <ConsoleContext value={console}>
      <LiveContext value={store}>
        <Shell>
          <Outlet key={actor} />
        </Shell>
      </LiveContext>
    </ConsoleContext>
  );
}
