// One pending action in full: the request with its answer, the messages before it, and who
// else can answer.
import { Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { listsAll, type MessageTrigger, type PendingAction } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useEntity, useName, useSpace } from "@/live/hooks";
import { PendingView } from "@/parts/part-view";
import { Words } from "@/parts/words/words";
import { SpaceLink } from "@/runs/trigger";
import { useOrigin } from "@/runs/use-origin";
import { Value } from "@/runs/json";
import { Button } from "@/ui/button";
import { Moment, Since } from "@/ui/time";
import { useTrigger } from "./queries";
import { Context } from "./context";
import { PendingState } from "./state";
import { subject } from "./subject";
import { policyWords } from "./policy";
import { Settled } from "./row";
import { useNames } from "./settled";

interface Props {
  pending: PendingAction;
  /** Whether the entity that acts may answer it. */
  mine: boolean;
  show: "anyone" | "done" | "remembered" | undefined;
  /** The next open action, to continue with when this one is settled. */
  next: PendingAction | undefined;
}

const link = "text-accent underline underline-offset-2";
const buttonLink = "inline-flex min-h-9 touch:min-h-11 max-w-full items-center gap-1.5 rounded-md border border-edge bg-surface px-3.5 font-medium hover:bg-sunken";

export function Detail({ pending: p, mine, show, next }: Props) {
  const { session } = useConsole();
  const agent = useName(p.agentId);
  const origin = useOrigin(p.runId);
  return (
    <article aria-label={subject(p)} className="flex w-full max-w-read min-w-0 flex-col gap-4 p-5">
      <Link to="/s/$session/approvals" params={{ session }} search={{ show }} className="inline-flex min-h-8 touch:min-h-11 items-center gap-1.5 self-start text-sm text-accent md:hidden">
        <ArrowLeft aria-hidden className="size-4" />
        Back to the list
      </Link>
      <header className="flex flex-col gap-1">
        <div className="flex flex-wrap items-baseline gap-2">
          <h2 className="min-w-0 flex-1 text-lg font-semibold break-words">
            <Words text={subject(p)} />
          </h2>
          <PendingState pending={p} />
        </div>
        <p className="text-sm text-soft">
          {agent} asks in {p.spaceId === null ? "no space" : <SpaceOf pending={p} />}
          {p.runId === "" ? (
            ", from a terminal, which asks too"
          ) : (
            <>
              , in{" "}
              <Link to="/s/$session/runs/$run" params={{ session, run: p.runId }} className={link}>
                this run
              </Link>
            </>
          )}
          {p.status === "open" && (
            <>
              . Waiting for <Since at={p.createdAt} />
            </>
          )}
          .
        </p>
      </header>
      {p.status !== "open" && (
        <p role="status">
          {/* The card below shows it, too. */}
          <span className="sr-only">
            <Settled pending={p} />
          </span>
          <span className="flex flex-wrap gap-2">
            {origin !== undefined && <BackTo origin={origin} />}
            {next !== undefined && (
              <Link to="/s/$session/approvals" params={{ session }} search={{ show, pending: next.id }} className={buttonLink}>
                Next request
              </Link>
            )}
          </span>
        </p>
      )}
      {p.status === "open" && !mine && <NotMine pending={p} />}
      <Asked pending={p} origin={origin} />
      <PendingView key={p.id} pending={p} />
      <Context pending={p} origin={origin} />
      {p.status === "open" && <Others pending={p} />}
      <details className="rounded-lg border border-line">
        <summary className="min-h-8 touch:min-h-11 px-3 py-1.5 text-sm text-soft">Exact arguments as JSON</summary>
        <div className="border-t border-line p-3">
          <Value title={p.toolName === "" ? "Arguments" : p.toolName} value={p.args} />
        </div>
      </details>
    </article>
  );
}

// The message that the model read, and whether it was edited afterwards.
function Asked({ pending, origin }: { pending: PendingAction; origin: MessageTrigger | undefined }) {
  const { text, editedAt } = useTrigger(pending);
  if (text === null) return null;
  return (
    <section aria-label="Message to the agent" className="flex flex-col gap-1">
      <h3 className="text-sm font-semibold text-soft">Message to the agent</h3>
      {origin !== undefined && (
        <p className="text-sm break-words text-soft">
          <Words text={origin.senderName} /> in <SpaceLink space={origin.spaceId} name={origin.spaceName} message={origin.messageId} />
        </p>
      )}
      <p className="max-h-40 overflow-y-auto whitespace-pre-wrap wrap-anywhere">
        <Words text={text} />
      </p>
      {editedAt !== null && (
        <p className="text-sm text-warn">
          The message has been edited, <Moment at={editedAt} />. This is the text that the agent read.
        </p>
      )}
    </section>
  );
}

// The way back to where the agent was asked: its answer appears there.
function BackTo({ origin }: { origin: MessageTrigger }) {
  const { session } = useConsole();
  const known = useSpace(origin.spaceId)?.space;
  if (known === undefined) return null;
  return (
    <Link to="/s/$session/spaces/$space" params={{ session, space: known.id }} className={buttonLink}>
      <ArrowLeft aria-hidden className="size-4 shrink-0" />
      <span className="min-w-0 break-words">Back to {known.name}</span>
    </Link>
  );
}

function SpaceOf({ pending: p }: { pending: PendingAction }) {
  return <SpaceLink space={p.spaceId ?? ""} message={p.messageId ?? undefined} />;
}

// Why an answer would be refused, and what to do about it.
function NotMine({ pending: p }: { pending: PendingAction }) {
  const { admin, actor, setActor } = useConsole();
  const name = useEntity(actor ?? "")?.name ?? actor;
  return (
    <div className="flex flex-wrap items-center gap-3 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
      <p className="min-w-0 flex-1">
        {!admin
          ? "You can see this request but not answer it: the tool's policy decides who may."
          : p.spaceId === null
            ? `You act as ${name}. This request is in no space: only a service, or an admin that acts as no participant, can answer it.`
            : `You act as ${name}, who is not a member of this space.`}
      </p>
      {admin && actor !== null && (
        <Button small onClick={() => setActor(null)}>
          Act as no participant
        </Button>
      )}
    </div>
  );
}

function Others({ pending: p }: { pending: PendingAction }) {
  const { actor } = useConsole();
  const name = useNames();
  const space = useSpace(p.spaceId ?? "")?.space;
  const people = space?.members.filter((m) => m.kind === "human" && m.entityId !== actor && m.entityId !== p.agentId && !(p.notRequester && p.requesters.includes(m.entityId))) ?? [];
  return (
    <section aria-label="Who can answer" className="flex flex-col gap-1 text-sm">
      <h3 className="font-semibold text-soft">Who can answer</h3>
      <p className="break-words">
        <Words text={policyWords(p, name)} /> <span className="text-soft">{p.quorum > 1 ? `${p.quorum} approvals needed; one denial settles it.` : "The first answer counts."}</span>
      </p>
      {p.by === null && people.length > 0 && <p className="break-words text-soft">Others in the space: {people.map((m) => m.name).join(", ")}
          {space !== undefined && !listsAll(space) && " and more"}.
        </p>}
    </section>
  );
}
