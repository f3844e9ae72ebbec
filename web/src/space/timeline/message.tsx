// One message of a timeline: who, when, how its run stands, and its parts in order.
// A delta draws the head and the growing part again, nothing else.
import { CornerDownRight } from "lucide-react";
import { memo, useState } from "react";
import { ended, type Message, type Run } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useEntity, useMessage, useName } from "@/live/hooks";
import { Words } from "@/parts/words/words";
import { SpaceLink } from "@/runs/trigger";
import { useOrigin } from "@/runs/use-origin";
import { Avatar } from "@/ui/avatar";
import { Badge } from "@/ui/badge";
import { classes } from "@/ui/classes";
import { onDemand } from "@/ui/on-demand";
import { MessageState, RunState } from "@/ui/state";
import { Moment, Since } from "@/ui/time";
import { StopRun } from "../cancel-run";
import { useRunOf } from "../use-run-of";
import { FailedRuns } from "./failed-runs";
import { MessageActions } from "./message-actions";
import { PartSlot } from "./part-slot";
import { Parts } from "./parts";
import { Quote } from "./quote";
import { Reactions } from "./reactions";
import { Reasoning } from "./reasoning";
import { RunLink } from "./run-link";
import { WaitsElsewhere } from "./waits-elsewhere";

const ReceiptMark = onDemand(() => import("./receipt-mark").then((m) => m.ReceiptMark), { failed: () => null });
const EditMessage = onDemand(() => import("./edit-message").then((m) => m.EditMessage));

interface Props {
  readonly id: string;
  /** It follows a message of the same sender closely: the head is for screen readers. */
  readonly joined: boolean;
  /** The address asks for it. */
  readonly marked: boolean;
  /** It is where the Tab key enters the timeline. */
  readonly entry: boolean;
  /** The reader may delete what others have written here. */
  readonly moderates: boolean;
  /** Runs that it started and that failed. */
  readonly failed: readonly Run[];
  /** The failed run that this message of the server reports. */
  readonly about?: Run | undefined;
  /** A message of the server reports the failure of the run that wrote this one. */
  readonly said?: boolean;
}

export const MessageView = memo(function MessageView(props: Props) {
  const message = useMessage(props.id);
  if (message === undefined) return null;
  return message.entityId === "system" ? <Notice message={message} {...props} /> : <Article message={message} {...props} />;
});

/** Room for the sender's picture at the left, where the window has it. */
export const beside = "sm:pl-14";

const frame = "scroll-my-16 rounded-lg px-3 [contain-intrinsic-size:auto_5rem] [content-visibility:auto] focus-visible:-outline-offset-2";

function Article({ message, joined, marked, entry, moderates, failed, said }: Props & { message: Message }) {
  const run = useRunOf(message);
  const [editing, setEditing] = useState(false);
  // Most messages are only scrolled past: their actions would be half of what is drawn.
  const [reached, setReached] = useState(false);
  const reach = () => setReached(true);
  const over = message.status !== "streaming" || (run !== undefined && ended(run.status));
  const underWay = run !== undefined && !ended(run.status) && message.status === "streaming";
  return (
    <article
      data-message={message.id}
      data-seq={message.seq}
      tabIndex={entry ? 0 : -1}
      aria-labelledby={`${message.id}-who ${message.id}-when`}
      aria-busy={underWay || undefined}
      onPointerEnter={reach}
      onFocus={reach}
      onContextMenu={(event) => {
        // A long press selects the message, which shows its actions.
        if ((event.nativeEvent as PointerEvent).pointerType === "touch") event.currentTarget.focus({ preventScroll: true });
      }}
      className={classes(frame, beside, "group/message relative", joined && !underWay && !marked ? "py-0.5" : "pt-2.5 pb-1", marked && "bg-accent-soft ring-2 ring-accent ring-inset")}
    >
      <Head message={message} hidden={joined && !underWay && !marked} run={run} underWay={underWay} marked={marked} />
      {reached && !editing && <MessageActions message={message} moderates={moderates} onEdit={() => setEditing(true)} />}
      {message.replyTo !== null && <Quote id={message.replyTo} />}
      {message.mentions.length > 0 && <Mentions message={message} />}
      {message.onBehalfOf.length > 0 && <OnBehalfOf message={message} run={run} />}
      <div className="flex min-w-0 flex-col items-stretch gap-2 wrap-anywhere">
        {message.runId !== null && !joined && <Reasoning run={message.runId} space={message.spaceId} />}
        {editing ? (
          <EditMessage message={message} onClose={() => setEditing(false)} />
        ) : (
          <Parts message={message} ended={over} />
        )}
        {message.parts.length === 0 && <p className="text-soft">{message.deletedAt !== null ? "This message was deleted." : over ? "Nothing was said." : "…"}</p>}
      </div>
      {message.runId !== null && message.status === "streaming" && <WaitsElsewhere message={message} />}
      {message.editedAt !== null && (
        <p className="text-sm text-soft">
          edited <Moment at={message.editedAt} />
        </p>
      )}
      <Reactions message={message} />
      {message.droppedMentions.length > 0 && <Dropped ids={message.droppedMentions} />}
      {message.status === "failed" && run?.error != null && said !== true && <p className="mt-1 text-sm text-bad">The run failed: {run.error.message}</p>}
      <FailedRuns runs={failed} />
    </article>
  );
}

function Head({ message, hidden, run, underWay, marked }: { message: Message; hidden: boolean; run: Run | undefined; underWay: boolean; marked: boolean }) {
  const name = useName(message.entityId);
  const agent = useEntity(message.entityId)?.kind === "agent" || message.runId !== null;
  return (
    // While it is written its head, with Stop, stays on the screen, on a phone in one row. That
    // of a linked message, which is selected at first, leaves room for the actions.
    <header className={hidden ? "sr-only" : classes("mb-0.5 flex flex-wrap items-center gap-x-2 gap-y-1", underWay ? "sticky -top-1 z-10 bg-ground pt-1.5 pb-0.5 max-sm:flex-nowrap" : "relative", marked && "touch:min-h-11 touch:pr-32")}>
      <Avatar id={message.entityId} name={name} kind={agent ? "agent" : "human"} size="message" />
      <h3 id={`${message.id}-who`} className={classes("font-semibold", underWay && "min-w-0 truncate")}>
        {agent && <span className="sr-only">agent </span>}
        <span title={`@${message.entityId}`}>
          <Words text={name} />
        </span>
      </h3>
      <span id={`${message.id}-when`} className={classes("text-sm", underWay && "max-sm:sr-only")}>
        <Moment at={message.createdAt} />
      </span>
      {message.status === "streaming" ? run === undefined ? <MessageState status="streaming" /> : <RunState status={run.status} /> : null}
      {(message.status === "failed" || message.status === "canceled") && <MessageState status={message.status} />}
      {underWay && run !== undefined && (
        <span className={classes("text-sm text-soft", run.status !== "running" && "max-sm:hidden")}>
          <Since at={run.startedAt ?? run.createdAt} />
        </span>
      )}
      {underWay && run !== undefined && <StopRun brief run={run.id} what={name} />}
      {message.runId !== null && !hidden && <RunLink run={message.runId} />}
    </header>
  );
}

function Mentions({ message }: { message: Message }) {
  const { actor } = useConsole();
  return (
    <p className="mb-0.5 flex flex-wrap items-center gap-1 text-sm text-soft">
      <CornerDownRight aria-hidden className="size-3.5" />
      <span className="sr-only">to</span>
      {message.mentions.map((id) => (
        <Mention key={id} id={id} message={message.entityId === actor && message.deletedAt === null ? message : undefined} />
      ))}
    </p>
  );
}

/** For whom an agent wrote this from another space, and the way there while the run is known. */
function OnBehalfOf({ message, run }: { message: Message; run: Run | undefined }) {
  const origin = useOrigin(message.runId ?? "", run !== undefined);
  return (
    <p className="mb-0.5 flex flex-wrap items-center gap-1 text-sm text-soft">
      on behalf of
      {message.onBehalfOf.map((id) => (
        <Mention key={id} id={id} />
      ))}
      {origin !== undefined && origin.spaceId !== message.spaceId && (
        <span className="min-w-0 wrap-anywhere">
          in <SpaceLink space={origin.spaceId} name={origin.spaceName} message={origin.messageId} />
        </span>
      )}
    </p>
  );
}

/** A mentioned entity; in `message`, which the reader has sent, with the mark of its receipt. */
function Mention({ id, message }: { id: string; message?: Message | undefined }) {
  const name = useName(id);
  const agent = useEntity(id)?.kind === "agent";
  const { actor } = useConsole();
  return (
    <Badge tone={id === actor ? "accent" : "neutral"}>
      @{name}
      {message !== undefined && agent && <ReceiptMark message={message} entity={id} />}
    </Badge>
  );
}

function Dropped({ ids }: { ids: readonly string[] }) {
  return (
    <p className="mt-1 text-sm text-warn">
      {ids.map((id) => `@${id}`).join(", ")} {ids.length === 1 ? "is not a member of this space and was not notified." : "are not members of this space and were not notified."}
    </p>
  );
}

// What the server itself says stands between the messages, not among them.
function Notice({ message, marked, entry, about }: Props & { message: Message }) {
  return (
    <article
      data-message={message.id}
      data-seq={message.seq}
      tabIndex={entry ? 0 : -1}
      aria-labelledby={`${message.id}-head`}
      className={classes(frame, "mx-3 my-1 border py-1.5 text-sm", about === undefined ? "border-line bg-ground text-soft" : "border-transparent bg-bad-soft text-bad", marked && "ring-2 ring-accent ring-inset")}
    >
      <header className="flex items-center gap-2">
        <span id={`${message.id}-head`} className="flex items-center gap-2">
          <h3 className="font-medium">Shoal</h3>
          <Moment at={message.createdAt} />
        </span>
        {about !== undefined && <RunLink run={about.id} />}
      </header>
      <div className="wrap-anywhere">
        {message.parts.map((part) => (
          <PartSlot key={part.id} message={message} part={part} ended />
        ))}
      </div>
    </article>
  );
}
