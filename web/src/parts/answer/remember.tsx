// Whether a decision answers later calls, too: which ones, and for how long.
import type { PendingAction } from "@shoal-dev/client";
import { SelectField } from "@/ui/field";
import { Words } from "../words/words";
import type { Remembering } from "./body";
import { inside, listed } from "./votes";

const hour = 3_600_000;
const times: readonly (readonly [number, string])[] = [
  [hour, "1 hour"],
  [24 * hour, "24 hours"],
  [7 * 24 * hour, "7 days"],
  [30 * 24 * hour, "30 days"],
];

const words: ReadonlySet<string> = new Set(["humans", "members", "agents", "services", "admins"]);

/** Whether the policy of a permission lets this reader's decision answer later calls. */
export function canRemember(p: PendingAction, me: string | null): boolean {
  if (p.toolName === "" || p.quorum > 1 || p.notRequester) return false;
  return p.by === null || p.by.every((b) => words.has(b)) || (me !== null && p.by.includes(me));
}

interface Props {
  readonly pending: PendingAction;
  readonly value: Remembering | undefined;
  readonly disabled: boolean;
  readonly nameOf: (entity: string) => string;
  readonly onChange: (value: Remembering | undefined) => void;
}

/** The two choices; the second appears with the first. */
export function RememberFields({ pending, value, disabled, nameOf, onChange }: Props) {
  const asked = pending.requesters.map(nameOf);
  return (
    <>
      <SelectField
        label="Remember this choice"
        hint={value === undefined ? undefined : <Words text={`For calls of ${nameOf(pending.agentId)} ${pending.spaceId === null ? "that no space shows" : "in this space"}${asked.length === 0 ? "" : `, asked for by ${listed(asked.map(inside))}`}. It can be revoked under Approvals.`} />}
        value={value?.scope ?? ""}
        disabled={disabled}
        onChange={(e) => onChange(e.target.value === "" ? undefined : { scope: e.target.value as Remembering["scope"], forMs: value?.forMs ?? 24 * hour })}
      >
        <option value="">Only this call</option>
        <option value="call">Calls with the same arguments</option>
        <option value="tool">Calls with any arguments</option>
      </SelectField>
      {value !== undefined && (
        <SelectField label="For" value={value.forMs} disabled={disabled} onChange={(e) => onChange({ ...value, forMs: Number(e.target.value) })}>
          {times.map(([ms, word]) => (
            <option key={ms} value={ms}>
              {word}
            </option>
          ))}
        </SelectField>
      )}
    </>
  );
}
