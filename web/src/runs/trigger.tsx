// What started a run, in words and with the way to it.
import { Link } from "@tanstack/react-router";
import { CalendarClock, type LucideIcon, MessageSquare, Plug } from "lucide-react";
import type { MessageTrigger, Run } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useMessage, useSpace } from "@/live/hooks";

type Trigger = Run["trigger"];

/** Whether a message of a space that the reader is in started the run. */
export function fromSpace(t: Trigger): t is MessageTrigger {
  return t.type === "space_message" && !("private" in t);
}

const elsewhere = "A message in a space you are not a member of";

const icons: Record<Trigger["type"], LucideIcon> = { space_message: MessageSquare, plan: CalendarClock, service: Plug };

/** What started a run, on one line without links: “I need a laptop”, Ann in Welcome. */
export function TriggerWords({ trigger }: { trigger: Trigger }) {
  const Icon = icons[trigger.type];
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      <Icon aria-hidden className="size-3.5 shrink-0 text-soft" />
      <span className="truncate" title={triggerText(trigger)}>
        {fromSpace(trigger) ? (
          <>
            <span className="text-ink">{trigger.messageContent === "" ? "(no text)" : trigger.messageContent}</span> · {trigger.senderName} in {trigger.spaceName}
          </>
        ) : (
          triggerText(trigger)
        )}
      </span>
    </span>
  );
}

/** The same as plain text. */
export function triggerText(t: Trigger): string {
  switch (t.type) {
    case "space_message":
      if (!fromSpace(t)) return elsewhere;
      return `${t.senderName} in ${t.spaceName}: ${t.messageContent === "" ? "a message without text" : t.messageContent}`;
    case "plan":
      return `Plan ${t.planName}${t.instruction === undefined ? "" : `: ${t.instruction}`}`;
    case "service":
      return `Service ${t.serviceName}`;
  }
}

/** The trigger with its links and all that it carried. */
export function TriggerLine({ trigger }: { trigger: Trigger }) {
  switch (trigger.type) {
    case "space_message":
      return fromSpace(trigger) ? <FromSpace trigger={trigger} /> : <>by a message in a space you are not a member of</>;
    case "plan":
      return <FromPlan trigger={trigger} />;
    case "service":
      return <>by the service {trigger.serviceName}</>;
  }
}

const link = "text-accent underline underline-offset-2";

function FromSpace({ trigger: t }: { trigger: MessageTrigger }) {
  return (
    <>
      by {t.senderName} in <SpaceLink space={t.spaceId} name={t.spaceName} message={t.messageId} />
      {t.messageContent !== "" && ":"}
      {t.messageContent !== "" && <q className="ml-1 break-words text-ink">{t.messageContent.length > 200 ? `${t.messageContent.slice(0, 200)}…` : t.messageContent}</q>}
    </>
  );
}

function FromPlan({ trigger: t }: { trigger: Extract<Trigger, { type: "plan" }> }) {
  const { session, may } = useConsole();
  return (
    <>
      by the plan{" "}
      {may("read_settings") ? (
        <Link to="/s/$session/plans" params={{ session }} className={link}>
          {t.planName}
        </Link>
      ) : (
        t.planName
      )}
    </>
  );
}

/** A link to a space, at one of its messages if that one is here; only the name of a space that the reader does not have. */
export function SpaceLink({ space, name, message, seq }: { space: string; name?: string | undefined; message?: string | undefined; seq?: number | undefined }) {
  const { session } = useConsole();
  const known = useSpace(space)?.space;
  const messageSeq = useMessage(message ?? "")?.seq;
  const words = name ?? known?.name ?? space;
  if (known === undefined) return <>{words}</>;
  return (
    <Link to="/s/$session/spaces/$space" params={{ session, space }} search={{ seq: seq ?? messageSeq }} className={link}>
      {words}
    </Link>
  );
}
