// The indicator of a client that is being connected, and a first message to it.
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleDashed, Clock } from "lucide-react";
import { useState } from "react";
import { api } from "@/api/client";
import type { Message } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useConnection, useEntity, useSpaces } from "@/live/hooks";
import { useKeyOf } from "@/space/idempotency";
import { Button } from "@/ui/button";
import { classes } from "@/ui/classes";
import { AreaField, SelectField } from "@/ui/field";
import { Failed } from "@/ui/placeholder";
import { duration, useNow } from "@/ui/time";
import { newer, type Stage, stageOf } from "./light";

const looks: Record<Stage, { icon: typeof Clock; tone: string; word: string }> = {
  nothing: { icon: CircleDashed, tone: "border-line bg-surface text-soft", word: "waiting for the first call …" },
  seen: { icon: CircleCheck, tone: "border-ok bg-ok-soft text-ok", word: "connected" },
  waiting: { icon: Clock, tone: "border-ok bg-ok-soft text-ok", word: "connected, waiting for a mention" },
};

/** Watches the entity from `since` on, in ms. */
export function LightPanel({ entity: id, since }: { entity: string; since: number }) {
  const { session } = useConsole();
  const live = useEntity(id);
  const offline = useConnection().state !== "live";
  // The stream reports entities that share a space with the reader. Others are requested.
  const asked = useQuery({
    queryKey: [session, "connecting", id],
    queryFn: () => api.GET("/v1/sessions/{session}/entities/{entity}", { headers: { "X-Shoal-Entity": "" }, params: { path: { session, entity: id } } }),
    refetchInterval: 2000,
    enabled: !offline,
  });
  const entity = newer(live, asked.data);
  const stage = stageOf(entity, since);
  const look = looks[stage];
  const Icon = look.icon;
  return (
    <section aria-labelledby="light" className="flex flex-col gap-3">
      <h2 id="light" className="text-lg font-semibold">
        4. Check the connection
      </h2>
      <div role="status" className={classes("flex items-center gap-2.5 rounded-lg border px-4 py-3", look.tone)}>
        <Icon aria-hidden className="size-5 shrink-0" />
        <span className="min-w-0">
          <strong className="break-all">{id}</strong>: {look.word}
        </span>
      </div>
      {stage === "waiting" && entity?.waitEndsAt != null && <WaitEnds at={entity.waitEndsAt} />}
      {stage === "nothing" && <p className="text-sm text-soft">Start the client and let it list its tools or make its first call. This page notices it.</p>}
      {stage === "seen" && <p className="text-sm text-soft">It has called the server. Ask it to call wait_for_mentions, so that mentions wake it.</p>}
      <FirstMessage entity={id} />
    </section>
  );
}

function WaitEnds({ at }: { at: string }) {
  const left = Date.parse(at) - useNow();
  return <p className="text-sm text-soft tabular-nums">Its wait ends in {duration(Math.max(0, left))}; after that it calls again.</p>;
}

function FirstMessage({ entity }: { entity: string }) {
  const { session, actor } = useConsole();
  const spaces = useSpaces().filter((s) => s.status === "open" && s.members.some((m) => m.entityId === entity) && s.members.some((m) => m.entityId === actor));
  const [chosen, setChosen] = useState("");
  const [text, setText] = useState(`Hello ${entity}, can you read this? Please answer here.`);
  const space = spaces.find((s) => s.id === chosen) ?? spaces[0];
  const idempotency = useKeyOf(JSON.stringify([space?.id, entity, text]));
  const send = useMutation({
    mutationFn: async (to: string): Promise<Message> =>
      api.POST("/v1/sessions/{session}/spaces/{space}/messages", { params: { path: { session, space: to } }, headers: { "Idempotency-Key": idempotency }, body: { text, mentions: [entity] } }),
  });
  if (actor === null) return <p className="text-sm text-soft">To write to it from here, choose whom you act as on the Sessions page.</p>;
  if (space === undefined) return <p className="text-sm text-soft">You share no open space with it. Add it to one of yours to write to it from here.</p>;
  return (
    <div className="flex flex-col gap-3 rounded-lg border border-line bg-surface p-4">
      <h3 className="font-semibold">Send a first message</h3>
      <SelectField label="Space" value={space.id} onChange={(e) => setChosen(e.target.value)}>
        {spaces.map((s) => (
          <option key={s.id} value={s.id}>
            {s.name}
          </option>
        ))}
      </SelectField>
      <AreaField label="Message" hint={`It mentions @${entity}, which wakes the agent.`} value={text} onChange={(e) => setText(e.target.value)} />
      <div className="flex flex-wrap items-center gap-3">
        <Button tone="primary" busy={send.isPending} disabled={text.trim() === ""} onClick={() => send.mutate(space.id)}>
          Send
        </Button>
        {send.data !== undefined && (
          <Link className="text-accent underline" to="/s/$session/spaces/$space" params={{ session, space: send.data.spaceId }} search={{ seq: send.data.seq }}>
            Sent. Open the space to see the answer
          </Link>
        )}
      </div>
      {send.isError && <Failed error={send.error} />}
    </div>
  );
}
