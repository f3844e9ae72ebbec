// Replaces a key by a new one, while the old one works on for a time.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "@/api/client";
import type { Key } from "@shoal-dev/client";
import { Confirm } from "@/ui/confirm";
import { SelectField } from "@/ui/field";
import { keysKey } from "./queries";

const hours = 60 * 60 * 1000;
const overlaps = [
  { name: "ends at once", ms: 0 },
  { name: "works for 1 more hour", ms: hours },
  { name: "works for 24 more hours", ms: 24 * hours },
  { name: "works for 7 more days", ms: 7 * 24 * hours },
  { name: "works for 30 more days", ms: 30 * 24 * hours },
] as const;

interface Props {
  of: Key;
  onClose: () => void;
  /** Is given the new key with its secret. */
  onMade: (key: Key) => void;
}

/** The dialog. */
export function RotateKey({ of: key, onClose, onMade }: Props) {
  const queries = useQueryClient();
  const [overlap, setOverlap] = useState(24 * hours);
  return (
    <Confirm
      title={`Replace the key ${key.name === "" ? key.id : `“${key.name}”`}?`}
      action="Replace"
      tone="primary"
      onClose={onClose}
      run={async () => {
        const made = await api.POST("/v1/keys/{key}/rotate", { params: { path: { key: key.id } }, body: { overlapMs: overlap } });
        await queries.invalidateQueries({ queryKey: keysKey });
        onMade(made);
      }}
    >
      <p>The new key has the same role and limits.</p>
      <SelectField label="The old key" value={overlap} onChange={(e) => setOverlap(Number(e.target.value))} hint="Until then both keys work: give the new one to the program before.">
        {overlaps.map((o) => (
          <option key={o.ms} value={o.ms}>
            {o.name}
          </option>
        ))}
      </SelectField>
    </Confirm>
  );
}
