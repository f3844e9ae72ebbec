import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useConsole } from "@/app/console";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { Diff } from "@/ui/diff";
import { SelectField } from "@/ui/field";
import { Failed, Loading } from "@/ui/placeholder";
import { Moment } from "@/ui/time";
import type { JsonObject } from "../config/json";
import { withDefaults } from "../config/schema";
import { writeValue } from "../config/text";
import { useDraftContext } from "../draft";
import { Section, Sheet } from "../forms/layout";
import { type AgentVersion, versionsQuery } from "../queries";

/** Each config that it had; `onRestore` saves an old one as the newest. */
export function VersionsTab({ agent, onRestore }: { agent: string; onRestore: (version: AgentVersion) => void }) {
  const { session, may } = useConsole();
  const versions = useQuery(versionsQuery(session, agent));
  if (versions.isPending) return <Loading />;
  if (versions.isError) return <Failed error={versions.error} retry={() => void versions.refetch()} />;
  const newest = versions.data[0];
  return (
    <Sheet>
      <Section title="Versions" about="Each save with changes creates a version. A run keeps the version it started with.">
        <ol className="flex flex-col divide-y divide-line rounded-lg border border-line bg-surface">
          {versions.data.map((v) => (
            <li key={v.version} className="flex flex-wrap items-center gap-3 px-3 py-2">
              <span className="font-medium tabular-nums">Version {v.version}</span>
              <Moment at={v.createdAt} />
              {v === newest && <Badge tone="ok">in use</Badge>}
              {v !== newest && may("manage") && (
                <Button small className="ml-auto" onClick={() => onRestore(v)}>
                  Restore<span className="sr-only"> version {v.version}</span>
                </Button>
              )}
            </li>
          ))}
        </ol>
      </Section>
      {versions.data.length > 1 && <Compare versions={versions.data} />}
    </Sheet>
  );
}

function Compare({ versions }: { versions: readonly AgentVersion[] }) {
  const { schema } = useDraftContext();
  const [before, setBefore] = useState(versions[1]?.version ?? 0);
  const [after, setAfter] = useState(versions[0]?.version ?? 0);
  const textOf = (version: number) => configText(schema, versions.find((v) => v.version === version)?.config ?? {});
  const options = versions.map((v) => (
    <option key={v.version} value={v.version}>
      Version {v.version}
    </option>
  ));
  return (
    <Section title="Compare">
      <div className="grid grid-cols-2 gap-4">
        <SelectField label="From" value={before} onChange={(e) => setBefore(Number(e.target.value))}>
          {options}
        </SelectField>
        <SelectField label="To" value={after} onChange={(e) => setAfter(Number(e.target.value))}>
          {options}
        </SelectField>
      </div>
      <Diff label={`Changes from version ${before} to version ${after}`} before={textOf(before)} after={textOf(after)} />
    </Section>
  );
}

/** A config as the text that is compared: whole, in one order. */
export function configText(schema: JsonObject, config: JsonObject): string {
  return writeValue(withDefaults(schema, config), "yaml");
}
