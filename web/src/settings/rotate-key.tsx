// Replaces a key by a new one, while the old one works on for a time.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { api } from "@/api/client";
import type { Key } from "@shoal-dev/client";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { SelectField } from "@/ui/field";
import { Failed } from "@/ui/placeholder";
import { NewKey } from "./new-key";
import { keysKey } from "./queries";

const hours = 60 * 60 * 1000;
const overlaps = [
  { name: "ends at once", ms: 0 },
  { name: "works for 1 more hour", ms: hours },
  { name: "works for 24 more hours", ms: 24 * hours },
  { name: "works for 7 more days", ms: 7 * 24 * hours },
  { name: "works for 30 more days", ms: 30 * 24 * hours },
] as const;

/** The dialog; after the key was replaced, the new secret. */
export function RotateKey({ of: key, onClose }: { of: Key; onClose: () => void }) {
  const queries = useQueryClient();
  const form = useId();
  const [overlap, setOverlap] = useState(24 * hours);
  const rotate = useMutation({
    mutationFn: () => api.POST("/v1/keys/{key}/rotate", { params: { path: { key: key.id } }, body: { overlapMs: overlap } }),
    onSuccess: () => void queries.invalidateQueries({ queryKey: keysKey }),
  });
  if (rotate.isSuccess) return <NewKey made={rotate.data} onClose={onClose} />;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Replace the key ${key.name === "" ? key.id : `“${key.name}”`}?`}
      about="The new key has the same role and limits."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" form={form} busy={rotate.isPending}>
            Replace
          </Button>
        </>
      }
    >
      <form
        id={form}
        onSubmit={(event) => {
          event.preventDefault();
          rotate.mutate();
        }}
        className="flex flex-col gap-3"
      >
        <SelectField label="The old key" value={overlap} onChange={(e) => setOverlap(Number(e.target.value))} hint="Until then both keys work: give the new one to the program before.">
          {overlaps.map((o) => (
            <option key={o.ms} value={o.ms}>
              {o.name}
            </option>
          ))}
        </SelectField>
        {rotate.isError && <Failed error={rotate.error} />}
      </form>
    </Dialog>
  );
}
