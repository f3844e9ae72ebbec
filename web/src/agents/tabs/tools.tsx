import { Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "@/ui/button";
import { SelectField } from "@/ui/field";
import { getIn, type Json, type JsonObject, type Path } from "../config/json";
import { wrongAt } from "../config/tabs";
import { useDraftContext } from "../draft";
import { ConfigField } from "../forms/config-field";
import { Item, type ItemList, useItems } from "../forms/item";
import { EnvHint, Row, Section, Sheet } from "../forms/layout";
import { kinds, ToolForm } from "../forms/tool-form";

const tools: Path = ["tools"];
const servers: Path = ["mcp", "servers"];

/** What it can do besides what every agent can. */
export function ToolsTab() {
  const { draft, disabled } = useDraftContext();
  const [kind, setKind] = useState("basic");
  const own = useItems(tools);
  const mcp = useItems(servers);
  const wrong = wrongAt(draft.wrongs, tools) ?? wrongAt(draft.wrongs, servers);
  return (
    <Sheet>
      {wrong !== undefined && <p className="text-sm text-bad">{wrong}</p>}
      <Section title="Tools" about="Every agent can also read and write in its spaces, ask people, delegate work, and manage goals, memories and plans (schedules).">
        {own.items.length === 0 ? (
          <p className="text-soft">It has no tools of its own.</p>
        ) : (
          <ul ref={own.ref} tabIndex={-1} aria-label="Tools" className="flex flex-col gap-2">
            {own.items.map((_, i) => (
              <ToolForm key={i} list={own} place={i} />
            ))}
          </ul>
        )}
        <div className="flex flex-wrap items-end gap-2">
          <div className="min-w-0 flex-1 sm:max-w-sm">
            <SelectField label="New tool type" value={kind} onChange={(e) => setKind(e.target.value)}>
              {Object.entries(kinds).map(([k, words]) => (
                <option key={k} value={k}>
                  {words}
                </option>
              ))}
            </SelectField>
          </div>
          <Button icon={<Plus aria-hidden className="size-4" />} disabled={disabled} onClick={() => own.add(newTool(kind, own.items))}>
            Add tool
          </Button>
        </div>
      </Section>
      <Section
        title="MCP servers"
        about="Each server adds its tools to the agent. If a server is unreachable, only its tools are missing."
        actions={
          <Button icon={<Plus aria-hidden className="size-4" />} disabled={disabled} onClick={() => mcp.add({ name: freeName("server", mcp.items), url: "https://" })}>
            Add server
          </Button>
        }
      >
        {mcp.items.length > 0 && (
          <ul ref={mcp.ref} tabIndex={-1} aria-label="MCP servers" className="flex flex-col gap-2">
            {mcp.items.map((_, i) => (
              <ServerForm key={i} list={mcp} place={i} />
            ))}
          </ul>
        )}
      </Section>
    </Sheet>
  );
}

function ServerForm({ list, place }: { list: ItemList; place: number }) {
  const { draft } = useDraftContext();
  const path = [...list.path, place];
  return (
    <Item list={list} place={place} name={String(getIn(draft.config, [...path, "name"]) ?? "")}>
      <Row>
        <ConfigField path={[...path, "name"]} label="Name" />
        <ConfigField path={[...path, "transport"]} label="Transport" />
      </Row>
      <ConfigField path={[...path, "url"]} label="URL" />
      <ConfigField path={[...path, "headers"]} label="Headers" placeholder={'Authorization: "Bearer ${env.KB_KEY}"'} />
      <EnvHint />
      <ConfigField path={[...path, "allowedTools"]} label="Allowed tools" placeholder="[search, read]" />
      <ConfigField path={[...path, "requiresPermission"]} label="Requires approval" />
    </Item>
  );
}

function freeName(base: string, items: readonly Json[]): string {
  const taken = items.map((item) => getIn(item, ["name"]));
  for (let n = items.length + 1; ; n++) if (!taken.includes(`${base}_${n}`)) return `${base}_${n}`;
}

function newTool(kind: string, items: readonly Json[]): JsonObject {
  const tool: JsonObject = { name: freeName("tool", items), description: "", executionType: kind };
  const schema: JsonObject = { type: "object", properties: {} };
  switch (kind) {
    case "request":
      return { ...tool, execution: { url: "https://", method: "POST" }, inputSchema: schema };
    case "compute":
      return { ...tool, execution: { operation: "", expression: "" }, inputSchema: schema };
    case "ai-agent":
      return { ...tool, execution: { agentConfig: "" } };
    case "image-generator":
      return { ...tool, execution: { provider: "openai" } };
    case "prebuilt":
      return { ...tool, execution: { action: "" } };
    case "waiting":
      return { ...tool, inputSchema: schema };
    default:
      return { ...tool, displayTool: true, inputSchema: schema };
  }
}
