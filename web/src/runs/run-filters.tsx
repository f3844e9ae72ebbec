// The filters of the list of runs. They are in the address: a filtered list can be
// sent to somebody. On a phone they are folded until they are used.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ListFilter } from "lucide-react";
import { useState } from "react";
import { useEntities, useSpaces } from "@/live/hooks";
import { Button } from "@/ui/button";
import { classes } from "@/ui/classes";
import { SelectField } from "@/ui/field";
import { groups } from "./list";

const from = "/s/$session/runs" as const;
const within = ["hour", "day", "week"] as const;

export function RunFilters() {
  const search = useSearch({ from });
  const go = useNavigate({ from });
  const set = (some: Partial<typeof search>) => void go({ search: (s) => ({ ...s, ...some }), replace: true });
  const agents = useEntities().filter((e) => e.hosted).sort((a, b) => a.name.localeCompare(b.name));
  const spaces = [...useSpaces()].sort((a, b) => a.name.localeCompare(b.name));
  const any = search.agent ?? search.space ?? search.status ?? search.failed ?? search.trigger ?? search.within;
  const [open, setOpen] = useState(any !== undefined);
  return (
    <form role="search" aria-label="Filter the runs" onSubmit={(e) => e.preventDefault()} className="border-b border-line bg-surface px-5 py-3 max-sm:py-1">
      <Button small tone="quiet" className="-ml-3 sm:hidden" aria-expanded={open} onClick={() => setOpen(!open)} icon={<ListFilter aria-hidden className="size-4" />}>
        Filters
      </Button>
      <div className={classes("grid grid-cols-2 items-end gap-3 max-sm:pb-3 sm:flex sm:flex-wrap", !open && "max-sm:hidden")}>
        <div className="sm:w-36">
          <SelectField label="State" value={search.failed === true ? "failed" : (search.status ?? "")} onChange={(e) => set({ status: e.target.value === "" ? undefined : e.target.value, failed: undefined })}>
            <option value="">Any</option>
            {Object.entries(groups).map(([id, g]) => (
              <option key={id} value={id}>
                {g.name}
              </option>
            ))}
          </SelectField>
        </div>
        <div className="sm:w-36">
          <SelectField label="Agent" value={search.agent ?? ""} onChange={(e) => set({ agent: e.target.value === "" ? undefined : e.target.value })}>
            <option value="">Any</option>
            {search.agent !== undefined && !agents.some((a) => a.id === search.agent) && <option value={search.agent}>{search.agent}</option>}
            {agents.map((a) => (
              <option key={a.id} value={a.id}>
                {a.name}
              </option>
            ))}
          </SelectField>
        </div>
        <div className="sm:w-36">
          <SelectField label="Space" value={search.space ?? ""} onChange={(e) => set({ space: e.target.value === "" ? undefined : e.target.value })}>
            <option value="">Any</option>
            {search.space !== undefined && !spaces.some((s) => s.id === search.space) && <option value={search.space}>{search.space}</option>}
            {spaces.map((s) => (
              <option key={s.id} value={s.id}>
                {s.name}
              </option>
            ))}
          </SelectField>
        </div>
        <div className="sm:w-36">
          <SelectField label="Started by" value={search.trigger ?? ""} onChange={(e) => set({ trigger: e.target.value === "" ? undefined : e.target.value })}>
            <option value="">Anything</option>
            <option value="space_message">A message</option>
            <option value="plan">A plan</option>
            <option value="service">A service</option>
          </SelectField>
        </div>
        <div className="sm:w-36">
          <SelectField label="Within" value={search.within ?? ""} onChange={(e) => set({ within: within.find((w) => w === e.target.value) })}>
            <option value="">All time</option>
            {within.map((w) => (
              <option key={w} value={w}>
                The last {w}
              </option>
            ))}
          </SelectField>
        </div>
        {any !== undefined && (
          <div className="flex min-h-9 touch:min-h-11 items-center">
            <Button small onClick={() => void go({ search: {}, replace: true })}>
              Clear
            </Button>
          </div>
        )}
      </div>
    </form>
  );
}
