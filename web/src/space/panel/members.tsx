// Who is in a space, and what each of them does at the moment.
import { Mail, UserMinus, UserPlus } from "lucide-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { type ReactNode, useDeferredValue, useState } from "react";
import { api } from "@/api/client";
import { type Entity, listsAll, type Member, type PendingAction, type Run, type Space } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { subject } from "@/approvals/subject";
import { useConnection, useEntity, useName, usePending } from "@/live/hooks";
import { Avatar } from "@/ui/avatar";
import { Badge } from "@/ui/badge";
import { Button, IconButton } from "@/ui/button";
import { dialogOnDemand } from "@/ui/on-demand";
import { Failed, Loading } from "@/ui/placeholder";
import { EntityState } from "@/ui/state";
import { duration, Moment, Since, useNow } from "@/ui/time";
import type { RunsHere } from "../runs-here";
import { answering } from "../composer/who-acts";
import { useSpaceRights } from "../moderates";
import { pathOf } from "../path-of";
import { byName } from "../sections";
import { useEntityById } from "../use-entity-by-id";
import type { SpaceDialog } from "../space-dialogs";

const InviteDialog = dialogOnDemand(() => import("@/invite/invite-dialog").then((m) => m.InviteDialog));

interface Props {
  space: Space;
  runs: RunsHere;
  ask: (dialog: SpaceDialog) => void;
}

export function MembersTab({ space, runs, ask }: Props) {
  const open = space.status === "open";
  const { may } = useConsole();
  const { changes } = useSpaceRights(space);
  const [inviting, setInviting] = useState(false);
  return (
    <div className="flex flex-col gap-2 p-2">
      {listsAll(space) ? <AllMembers space={space} runs={runs} ask={ask} /> : <ManyMembers space={space} runs={runs} ask={ask} />}
      {open && changes && (
        <Button small icon={<UserPlus aria-hidden className="size-4" />} onClick={() => ask("add")}>
          Add members
        </Button>
      )}
      {open && changes && may("invite") && (
        <Button small icon={<Mail aria-hidden className="size-4" />} onClick={() => setInviting(true)}>
          Invite a person
        </Button>
      )}
      {inviting && <InviteDialog space={space.id} onClose={() => setInviting(false)} />}
    </div>
  );
}

const groups = [
  { kind: "human", name: "People" },
  { kind: "agent", name: "Agents" },
] as const;

function AllMembers(props: Props) {
  return groups.map(({ kind, name }) => {
    const members = props.space.members.filter((m) => m.kind === kind).sort((a, b) => byName(a.name, b.name));
    return members.length > 0 && <Group key={kind} name={name} count={members.length} members={members} {...props} />;
  });
}

// A space with more members than it lists: the server searches and pages them.
function ManyMembers(props: Props) {
  const [text, setText] = useState("");
  const wanted = useDeferredValue(text.trim().replace(/^@/, ""));
  return (
    <>
      <input type="search" aria-label="Search members" value={text} onChange={(e) => setText(e.target.value)} placeholder="Search by name or id" className="h-9 w-full rounded-md border border-edge bg-surface px-3 placeholder:text-soft" />
      {groups.map((g) => (
        <Page key={g.kind} {...g} text={wanted} {...props} />
      ))}
    </>
  );
}

function Page({ kind, name, text, ...props }: Props & { kind: Member["kind"]; name: string; text: string }) {
  const { space } = props;
  const pages = useInfiniteQuery({
    queryKey: ["members", space.sessionId, space.id, space.memberCount, kind, text],
    queryFn: ({ pageParam: cursor }) => api.GET("/v1/sessions/{session}/spaces/{space}/members", { params: { ...pathOf(space), query: { kind, q: text, cursor, limit: 50 } } }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.nextCursor ?? undefined,
    placeholderData: (before) => before,
  });
  if (pages.isError) return <Failed error={pages.error} retry={() => void pages.refetch()} />;
  if (pages.isPending) return <Loading lines={3} />;
  const members = pages.data.pages.flatMap((p) => p.items);
  if (members.length === 0) return text !== "" && <p className="px-2 text-sm text-soft">{name}: nobody is called “{text}”.</p>;
  return (
    <Group name={name} count={pages.hasNextPage ? undefined : members.length} members={members} {...props}>
      {pages.hasNextPage && (
        <Button small tone="quiet" aria-label={`Show more of ${name}`} busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          Show more
        </Button>
      )}
    </Group>
  );
}

function Group({ name, count, members, children, space, runs, ask }: Props & { name: string; count: number | undefined; members: readonly Member[]; children?: ReactNode }) {
  const pending = usePending().filter((p) => p.status === "open" && p.spaceId === space.id);
  const { changes } = useSpaceRights(space);
  const answers = answering(space, useEntityById());
  return (
    <section aria-label={name}>
      <h3 className="px-2 pt-1 text-xs font-semibold text-soft">
        {name} {count !== undefined && `(${count})`}
      </h3>
      <ul className="flex flex-col">
        {members.map((m) => (
          <MemberRow
            key={m.entityId}
            member={m}
            answers={answers === m.entityId}
            owner={space.ownerId === m.entityId}
            runs={runs.underWay.filter((r) => r.agentId === m.entityId)}
            pending={pending.filter((p) => p.agentId === m.entityId)}
            remove={space.status === "open" && changes ? () => ask({ remove: m.entityId }) : undefined}
          />
        ))}
      </ul>
      {children}
    </section>
  );
}

function MemberRow({ member, answers, owner, runs, pending, remove }: { member: Member; answers: boolean; owner: boolean; runs: readonly Run[]; pending: readonly PendingAction[]; remove: (() => void) | undefined }) {
  const { actor } = useConsole();
  const entity = useEntity(member.entityId);
  const you = member.entityId === actor;
  return (
    <li className="group flex items-start gap-2 rounded-md px-2 py-1.5 hover:bg-sunken">
      <Avatar id={member.entityId} name={member.name} kind={member.kind} />
      <div className="min-w-0 flex-1">
        <p className="truncate leading-5" title={`@${member.entityId}`}>
          <span className="font-medium">{member.name}</span> <span className="text-sm text-soft">@{member.entityId}</span>
          {you && <span className="text-sm text-soft"> (you)</span>}
        </p>
        <div className="flex flex-wrap items-center gap-x-1.5 gap-y-0.5 text-sm text-soft">
          {entity !== undefined && <State entity={entity} runs={runs} />}
          {answers && <Badge tone="accent">answers here</Badge>}
          {owner && <Badge>owner</Badge>}
          {member.addedBy !== null && <AddedBy id={member.addedBy} />}
        </div>
        <Waits pending={pending} />
        {runs.some((r) => r.status === "waiting_reply") && <p className="text-sm text-warn">waits for a reply</p>}
      </div>
      {remove !== undefined && !you && (
        <IconButton label={`Remove ${member.name}`} onClick={remove} className="opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 max-lg:opacity-100">
          <UserMinus aria-hidden className="size-4" />
        </IconButton>
      )}
    </li>
  );
}

function AddedBy({ id }: { id: string }) {
  return <span className="truncate">added by {useName(id)}</span>;
}

// What it waits for, without duplicates; the oldest gives the start of the wait.
function Waits({ pending }: { pending: readonly PendingAction[] }) {
  const first = pending.reduce<PendingAction | undefined>((a, p) => (a === undefined || p.createdAt < a.createdAt ? p : a), undefined);
  if (first === undefined) return null;
  const counts = new Map<string, number>();
  for (const p of pending) counts.set(subject(p), (counts.get(subject(p)) ?? 0) + 1);
  return (
    <p className="text-sm wrap-anywhere text-warn">
      waits for {pending.length === 1 ? "an answer" : `${pending.length} answers`}: {[...counts].map(([what, n]) => (n > 1 ? `${what} (${n})` : what)).join(", ")}, for <Since at={first.createdAt} />
    </p>
  );
}

// The state's word with its time: how long it runs, how long it still waits, since
// when it is away.
function State({ entity, runs }: { entity: Entity; runs: readonly Run[] }) {
  const { state } = useConnection();
  // What was true when the server was last heard of may not be any more.
  if (state !== "live") return <span>state unknown</span>;
  return <Present entity={entity} runs={runs} />;
}

function Present({ entity, runs }: { entity: Entity; runs: readonly Run[] }) {
  const running = runs.find((r) => r.status === "running");
  return (
    <>
      <EntityState state={entity.state} />
      {entity.state === "waiting" && entity.waitEndsAt !== null && <Left until={entity.waitEndsAt} />}
      {entity.state === "running" && running !== undefined && <Since at={running.startedAt ?? running.createdAt} />}
      {entity.state === "offline" && entity.lastSeenAt !== null && (
        <span>
          since <Moment at={entity.lastSeenAt} />
        </span>
      )}
    </>
  );
}

function Left({ until }: { until: string }) {
  const now = useNow();
  const left = Date.parse(until) - now;
  return <span className="tabular-nums">{left > 0 ? `${duration(Math.ceil(left / 1000) * 1000)} left` : "ending"}</span>;
}
