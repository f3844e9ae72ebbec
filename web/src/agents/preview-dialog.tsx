// What the model would see with the draft: the final prompt, the tools, the first
// input. Made by what makes them for runs; nothing is stored.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useConsole } from "@/app/console";
import { Badge } from "@/ui/badge";
import { CopyButton } from "@/ui/copy";
import { Dialog } from "@/ui/dialog";
import { SelectField } from "@/ui/field";
import { Failed, Loading } from "@/ui/placeholder";
import { isObject, type Json, type JsonObject, writeJson } from "./config/json";
import { allSpacesQuery, preview, type Preview } from "./queries";
import { isOfTrial } from "@/app/trials";

/** Fields that the server adds to the schema of a tool that can be shown. */
const added = ["targetSpaceId", "mention", "targetEntityId"];

export function PreviewDialog({ agent, config, onClose }: { agent: string; config: JsonObject; onClose: () => void }) {
  const { session } = useConsole();
  const spaces = useQuery(allSpacesQuery(session));
  const [space, setSpace] = useState<string>();
  const open = (spaces.data ?? []).filter((s) => s.status === "open" && !isOfTrial(s));
  const mine = open.filter((s) => s.members.some((m) => m.entityId === agent));
  const chosen = space ?? mine[0]?.id ?? "";
  const seen = useQuery({
    queryKey: ["agent-preview", session, agent, chosen, writeJson(config)],
    queryFn: () => preview(session, agent, config, chosen === "" ? undefined : chosen),
    enabled: !spaces.isPending,
    retry: false,
    gcTime: 0,
  });
  return (
    <Dialog open wide onClose={onClose} title="What the model sees" about="The first request of a run with the current draft. Nothing is stored and no model is called.">
      <div className="flex flex-col gap-4">
        <SelectField label="Started" value={chosen} onChange={(e) => setSpace(e.target.value)}>
          <option value="">by a service, without a space</option>
          {open.map((s) => (
            <option key={s.id} value={s.id}>
              in {s.name}
              {mine.includes(s) ? "" : " (it is not a member)"}
            </option>
          ))}
        </SelectField>
        {seen.isError ? <Failed error={seen.error} retry={() => void seen.refetch()} /> : seen.data === undefined ? <Loading lines={8} label="Loading the preview from the server and its MCP servers" /> : <Seen seen={seen.data} />}
      </div>
    </Dialog>
  );
}

function Seen({ seen }: { seen: Preview }) {
  return (
    <>
      {seen.warnings.length > 0 && (
        <ul aria-label="Warnings" className="rounded-md border border-warn bg-warn-soft px-3 py-2 text-sm text-warn">
          {seen.warnings.map((w) => (
            <li key={w}>{w}</li>
          ))}
        </ul>
      )}
      <Text title="System prompt" text={seen.system} />
      <Text title="First input" text={seen.input} />
      <section className="flex flex-col gap-2">
        <h3 className="font-semibold">Tools ({seen.tools.length})</h3>
        <p className="text-sm text-soft">
          <code>targetSpaceId</code> and <code>mention</code> are added to tools that can be displayed in a space. The tool itself never receives them.
        </p>
        <ul className="flex flex-col gap-1">
          {seen.tools.map((tool) => (
            <li key={tool.name}>
              <details className="rounded-md border border-line bg-surface">
                <summary className="min-h-8 touch:min-h-11 px-3 py-1.5">
                  <code className="font-medium">{tool.name}</code>
                  {addedTo(tool.inputSchema).map((name) => (
                    <span key={name} className="ml-2">
                      <Badge tone="info">+ {name}</Badge>
                    </span>
                  ))}
                </summary>
                <div className="flex flex-col gap-2 border-t border-line p-3">
                  <p className="text-sm whitespace-pre-line">{tool.description}</p>
                  <pre tabIndex={0} aria-label={`Schema of ${tool.name}`} className="max-h-80 overflow-auto rounded-md bg-sunken p-2 text-xs">
                    {JSON.stringify(tool.inputSchema, null, 2)}
                  </pre>
                </div>
              </details>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

function addedTo(schema: unknown): readonly string[] {
  const properties = isObject(schema as Json) ? (schema as JsonObject).properties : undefined;
  // sendSpaceMessage has a mention of its own.
  if (!isObject(properties) || !Object.hasOwn(properties, "targetSpaceId")) return [];
  return added.filter((name) => Object.hasOwn(properties, name));
}

function Text({ title, text }: { title: string; text: string }) {
  return (
    <section className="flex flex-col gap-2">
      <div className="flex items-center justify-between gap-2">
        <h3 className="font-semibold">{title}</h3>
        <CopyButton text={text} />
      </div>
      <pre tabIndex={0} aria-label={title} className="max-h-96 overflow-auto rounded-md bg-sunken p-3 text-xs whitespace-pre-wrap">
        {text}
      </pre>
    </section>
  );
}
