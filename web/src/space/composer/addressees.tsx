// Under the composer: whom the message wakes, and who will act on it.
import { AtSign, UserPlus } from "lucide-react";
import { useMemo } from "react";
import { api } from "@/api/client";
import type { Entity, Member, Space } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useEntities, useName } from "@/live/hooks";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { useMembership } from "../membership";
import { pathOf } from "../path-of";
import { useAction } from "../use-action";
import { useEntityById } from "../use-entity-by-id";
import { mentionedIds } from "./mentions";
import { type WhoActs, whoActs } from "./who-acts";

/** `members` are those that the text may mention. */
export function Addressees({ space, text, members }: { space: Space; text: string; members: readonly Member[] }) {
  const { actor } = useConsole();
  const entities = useEntities();
  const mentioned = mentionedIds(text, members);
  const of = useEntityById();
  const outside = useMemo(() => {
    if (!text.includes("@")) return [];
    const others = entities.filter((e) => !members.some((m) => m.entityId === e.id));
    const all = [...members, ...others.map((e): Member => ({ entityId: e.id, kind: e.kind, name: e.name, joinedAt: e.createdAt, addedBy: null }))];
    return mentionedIds(text, all).filter((id) => others.some((e) => e.id === id));
  }, [text, entities, members]);
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1 text-sm text-soft">
      {mentioned.map((id) => (
        <Chip key={id} id={id} />
      ))}
      <span className="min-w-0 wrap-anywhere">
        <Acts acts={whoActs({ ...space, members }, actor, mentioned, of)} of={of} />
      </span>
      {outside.map((id) => (
        <Outside key={id} id={id} space={space} />
      ))}
    </div>
  );
}

function Chip({ id }: { id: string }) {
  const name = useName(id);
  return (
    <Badge tone="accent" icon={<AtSign aria-hidden className="size-3" />}>
      {name}
    </Badge>
  );
}

function Acts({ acts, of }: { acts: WhoActs; of: (id: string) => Entity | undefined }) {
  if (acts.by === "mention") return <Mentioned ids={acts.agents} of={of} />;
  if (acts.by === "space") return <Names ids={[acts.agent]} after={of(acts.agent)?.state === "offline" ? "is offline and answers when it is back." : "answers here."} />;
  switch (acts.why) {
    case "no agents":
      return "This space has no agents.";
    case "unasked":
      return "No agent will answer: this space has no admin agent. Type @ to mention one.";
    case "sender is an agent":
      return "You are writing as an agent. Only the agents you mention respond.";
  }
}

// Agents that bring their own model may be away: the mention waits in their inboxes.
function Mentioned({ ids, of }: { ids: readonly string[]; of: (id: string) => Entity | undefined }) {
  const away = ids.filter((id) => of(id)?.state === "offline");
  const there = ids.filter((id) => !away.includes(id));
  return (
    <>
      {there.length > 0 && <Names ids={there} after={there.length === 1 ? "acts on it." : "act on it."} />}{" "}
      {away.length > 0 && <Names ids={away} after={away.length === 1 ? "is offline and finds it when it is back." : "are offline and find it when they are back."} />}
    </>
  );
}

function Names({ ids, after }: { ids: readonly string[]; after: string }) {
  return (
    <>
      {ids.map((id, i) => (
        <span key={id}>
          {i > 0 && (i === ids.length - 1 ? " and " : ", ")}
          <Name id={id} />
        </span>
      ))}{" "}
      {after}
    </>
  );
}

function Name({ id }: { id: string }) {
  return useName(id);
}

// A mentioned participant would not be notified.
function Outside({ id, space }: { id: string; space: Space }) {
  const name = useName(id);
  const adding = useAction();
  const member = useMembership(space, id);
  const add = () => adding.run(() => api.PUT("/v1/sessions/{session}/spaces/{space}/members/{entity}", { params: { path: { ...pathOf(space).path, entity: id } } }));
  if (member !== false) return null;
  return (
    <span className="inline-flex flex-wrap items-center gap-1.5 text-warn">
      {name} is not a member of this space and will not be notified.
      <Button small busy={adding.busy} onClick={() => void add()} icon={<UserPlus aria-hidden className="size-3.5" />}>
        Add
      </Button>
      {adding.problem !== undefined && <span className="text-bad">{adding.problem.message}</span>}
    </span>
  );
}
