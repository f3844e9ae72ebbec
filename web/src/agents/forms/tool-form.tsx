// The form of one tool.
import { Badge } from "@/ui/badge";
import { SelectField, TextField } from "@/ui/field";
import { getIn, isList, type Json, type Path } from "../config/json";
import { fieldsAt } from "../config/schema";
import { wrongAt } from "../config/tabs";
import { useDraftContext } from "../draft";
import { ConfigField } from "./config-field";
import { Item, type ItemList } from "./item";
import { EnvHint, Row } from "./layout";

/** The kinds of tools in words. */
export const kinds: Readonly<Record<string, string>> = {
  basic: "Basic: executed elsewhere, or a fixed output",
  request: "Request: calls an HTTP server",
  compute: "Compute: an expression over its input",
  waiting: "Waiting: pauses for a time",
  "ai-agent": "Agent: calls another hosted agent",
  "image-generator": "Image: generates a picture",
  prebuilt: "Built in: one of the tools that every agent has",
};

const fixedInput = ["ai-agent", "image-generator", "prebuilt"];

const fieldNames: Readonly<Record<string, string>> = {
  mode: "Mode",
  output: "Output",
  template: "Insert input values into the output",
  url: "URL",
  method: "Method",
  headers: "Headers",
  queryParams: "Query parameters",
  body: "Body",
  timeout: "Time-out",
  agentConfig: "Agent",
  includeContext: "Include the conversation",
  stream: "Relay its events",
  provider: "Provider",
  model: "Model",
  apiKey: "Key",
  baseURL: "Base URL",
  size: "Size",
  quality: "Quality",
  style: "Style",
  duration: "Duration",
  reason: "Reason",
  operation: "Operation",
  expression: "Expression",
  action: "Tool",
};

// The order in which one thinks of them.
const fieldOrder = Object.keys(fieldNames);

/** One tool of the list, with all its settings. */
export function ToolForm({ list, place }: { list: ItemList; place: number }) {
  const { draft, schema } = useDraftContext();
  const path = [...list.path, place];
  const tool = getIn(draft.config, path);
  const type = String(getIn(tool, ["executionType"]) ?? "basic");
  const isStatic = type === "basic" && getIn(tool, ["execution", "mode"]) === "static";
  const shown = fieldsAt(schema, draft.config, [...path, "execution"])
    .filter((f) => type !== "basic" || f === "mode" || isStatic || getIn(tool, ["execution", f]) === true)
    .sort((a, b) => fieldOrder.indexOf(a) - fieldOrder.indexOf(b));
  const isDisplay = getIn(tool, ["displayTool"]) === true;
  const waits = getIn(tool, ["requiresPermission"]) === true || (type === "basic" && (getIn(tool, ["execution", "mode"]) ?? "no-execution") === "no-execution");
  return (
    <Item list={list} place={place} name={String(getIn(tool, ["name"]) ?? "")} badges={<ToolBadges tool={tool} type={type} />}>
      <Row>
        <ConfigField path={[...path, "name"]} label="Name" />
        <KindField path={path} type={type} />
      </Row>
      <ConfigField path={[...path, "description"]} label="Description" rows={2} />
      {shown.map((f) => (
        <ConfigField key={`${type}.${f}`} path={[...path, "execution", f]} label={fieldNames[f] ?? f} placeholder={placeholders[f]} />
      ))}
      {(type === "request" || type === "image-generator") && <EnvHint />}
      {!fixedInput.includes(type) && <ConfigField path={[...path, "inputSchema"]} label="Input schema" placeholder={"type: object\nproperties:\n  name: {type: string}\nrequired: [name]"} />}
      <ConfigField path={[...path, "outputSchema"]} label="Result schema" hint="If people answer the tool, the schema determines what they see: buttons or a form." />
      <Row>
        <ConfigField path={[...path, "displayTool"]} label="Display in spaces" />
        <ConfigField path={[...path, "requiresPermission"]} label="Requires approval" />
        <ConfigField path={[...path, "idempotent"]} label="Idempotent" />
        {(isDisplay || getIn(tool, ["targeted"]) === true) && <ConfigField path={[...path, "targeted"]} label="Can target one member" />}
      </Row>
      {isDisplay && (
        <Row>
          <ConfigField path={[...path, "display", "customUI"]} label="Renderer" placeholder="ProductCard" />
          <ConfigField path={[...path, "display", "mode"]} label="Display mode" />
        </Row>
      )}
      {waits && (
        <fieldset className="flex flex-col gap-4 rounded-md border border-line p-3">
          <legend className="px-1 text-sm font-medium">Who may answer</legend>
          <Row>
            <AnswerersField path={[...path, "answer", "by"]} />
            <ConfigField path={[...path, "answer", "quorum"]} label="Approvals needed" />
            <ConfigField path={[...path, "expiresInMs"]} label="Expires after (ms)" />
          </Row>
          <ConfigField path={[...path, "answer", "notRequester"]} label="Requester can't approve" />
        </fieldset>
      )}
    </Item>
  );
}

const placeholders: Readonly<Record<string, string>> = {
  url: "https://rooms.example/book/{{room}}",
  headers: 'Authorization: "Bearer ${env.ROOMS_KEY}"',
  apiKey: "${env.IMAGE_KEY}",
};

function ToolBadges({ tool, type }: { tool: Json | undefined; type: string }) {
  return (
    <>
      <Badge>{type}</Badge>
      {getIn(tool, ["displayTool"]) === true && <Badge tone="info">shown</Badge>}
      {getIn(tool, ["requiresPermission"]) === true && <Badge tone="warn">permission</Badge>}
    </>
  );
}

// Another kind has other settings: those of the old one go.
function KindField({ path, type }: { path: Path; type: string }) {
  const { draft, dispatch, disabled } = useDraftContext();
  const choose = (kind: string) => {
    dispatch({ type: "set", path: [...path, "execution"], value: undefined });
    dispatch({ type: "set", path: [...path, "executionType"], value: kind });
    if (fixedInput.includes(kind)) dispatch({ type: "set", path: [...path, "inputSchema"], value: undefined });
  };
  return (
    <SelectField label="Kind" value={type} disabled={disabled} error={wrongAt(draft.wrongs, [...path, "executionType"])} onChange={(e) => choose(e.target.value)}>
      {kinds[type] === undefined && <option value={type}>{type} (unknown)</option>}
      {Object.entries(kinds).map(([kind, words]) => (
        <option key={kind} value={kind}>
          {words}
        </option>
      ))}
    </SelectField>
  );
}

// The word members, or ids.
function AnswerersField({ path }: { path: Path }) {
  const { draft, dispatch, disabled } = useDraftContext();
  const by = getIn(draft.config, path);
  const shown = isList(by) ? by.join(", ") : "";
  const take = (text: string) => {
    const ids = text.split(/[\s,]+/).filter((id) => id !== "");
    dispatch({ type: "set", path, value: ids.length === 0 ? undefined : ids });
  };
  return (
    <TextField
      key={isList(by) ? "ids" : "members"}
      label="Participants"
      hint="Ids separated by commas. If empty: all members of the space."
      placeholder="all members"
      defaultValue={shown}
      disabled={disabled}
      error={wrongAt(draft.wrongs, path, true)}
      onBlur={(e) => e.target.value !== shown && take(e.target.value)}
    />
  );
}
