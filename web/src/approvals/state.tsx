// How a pending action is, as an icon and a word.
import { Ban, Check, CircleHelp, Clock, Hand, type LucideIcon } from "lucide-react";
import type { PendingAction } from "@shoal-dev/client";
import { type Verdict, verdict } from "@/parts/answer/votes";
import { Badge, type Tone } from "@/ui/badge";

/** What was decided about a permission says more than that it was answered. */
export function PendingState({ pending: { status, decision } }: { pending: Pick<PendingAction, "status" | "decision"> }) {
  const word = status === "answered" ? (verdict(decision) ?? status) : status;
  const { tone, icon: Icon } = looks[word];
  return (
    <Badge tone={tone} icon={<Icon aria-hidden className="size-3" />}>
      {word}
    </Badge>
  );
}

const looks: Record<PendingAction["status"] | Verdict, { tone: Tone; icon: LucideIcon }> = {
  open: { tone: "warn", icon: Hand },
  answered: { tone: "ok", icon: Check },
  approved: { tone: "ok", icon: Check },
  denied: { tone: "bad", icon: Ban },
  "sent back": { tone: "warn", icon: CircleHelp },
  expired: { tone: "neutral", icon: Clock },
  canceled: { tone: "neutral", icon: Ban },
};
