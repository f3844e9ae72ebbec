// The votes on an action that several have to answer, as its reader sees them.
import { CircleCheck, CircleDashed, Users } from "lucide-react";
import type { PendingAction } from "@shoal-dev/client";
import { Moment } from "@/ui/time";
import { Value } from "../renderers/value";
import { Words } from "../words/words";
import { tallyOf, voteWords } from "./votes";

/** "1 of 2 approvals", who voted and how many are missing. */
export function VotesOf({ pending, nameOf }: { pending: PendingAction; nameOf: (entity: string) => string }) {
  const { agreed, others, missing, stuck } = tallyOf(pending);
  return (
    <section aria-label="Votes" className="flex flex-col gap-2 rounded-md bg-sunken px-3 py-2 text-sm">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <Users aria-hidden className="size-4 text-soft" />
        <strong className="tabular-nums">
          {agreed.length} of {pending.quorum} {pending.kind === "permission" ? "approvals" : "equal answers"}
        </strong>
        <span className="text-soft tabular-nums">
          {missing} missing, {pending.eligible} {pending.eligible === 1 ? "participant" : "participants"} can still vote
        </span>
      </p>
      {[...agreed, ...others].length > 0 && (
        <ul className="flex flex-col gap-1">
          {[...agreed, ...others].map((v) => (
            <li key={v.entityId} className="flex min-w-0 flex-col gap-1">
              <span className="flex items-center gap-1.5">
                {agreed.includes(v) ? <CircleCheck aria-hidden className="size-3.5 text-ok" /> : <CircleDashed aria-hidden className="size-3.5 text-soft" />}
                <span className="min-w-0 break-words">
                  <Words text={nameOf(v.entityId)} /> {voteWords(v)}, <Moment at={v.at} />
                </span>
              </span>
              {v.editedArgs !== null && (
                <div className="ml-5 min-w-0">
                  <Value value={v.editedArgs} />
                </div>
              )}
            </li>
          ))}
        </ul>
      )}
      {stuck && <p className="text-warn">Too few participants can still vote. Deny it, or add people who may approve it to the space.</p>}
    </section>
  );
}
