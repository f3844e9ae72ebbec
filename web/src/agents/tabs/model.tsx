import { getIn } from "../config/json";
import { useDraftContext } from "../draft";
import { CodeArea } from "../forms/code-area";
import { ConfigField, PieceField } from "../forms/config-field";
import { Row, Section, Sheet } from "../forms/layout";
import { wrongAt } from "../config/tabs";
import { keyHint } from "../templates";

/** Which model it asks, and how. */
export function ModelTab() {
  const { draft } = useDraftContext();
  const provider = getIn(draft.config, ["model", "provider"]);
  const api = getIn(draft.config, ["model", "api"]);
  if (getIn(draft.config, ["remote"]) !== undefined && getIn(draft.config, ["model"]) === undefined) return <RemoteModel />;
  return (
    <Sheet>
      <Section title="Model" about={keyHint(String(provider))}>
        <Row>
          <ConfigField path={["model", "provider"]} label="Provider" />
          <ConfigField path={["model", "name"]} label="Model" placeholder="gpt-4o-mini" />
        </Row>
        {provider === "script" ? (
          <ScriptField />
        ) : (
          <>
            <Row>
              <ConfigField path={["model", "baseURL"]} label="Base URL" placeholder="the vendor's" />
              {(provider === "openai" || (api !== undefined && api !== "default")) && <ConfigField path={["model", "api"]} label="API" />}
            </Row>
            <Row>
              <ConfigField path={["model", "temperature"]} label="Temperature" hint="From 0 to 2." />
              <ConfigField path={["model", "maxOutputTokens"]} label="Max output tokens" />
            </Row>
          </>
        )}
      </Section>
      {provider !== "script" && (
        <>
          <Section title="Reasoning" about="Lets the model reason before it answers, if it supports that.">
            <ConfigField path={["model", "reasoning", "enabled"]} label="Enable reasoning" />
            <Row>
              <ConfigField path={["model", "reasoning", "effort"]} label="Effort" />
              <ConfigField path={["model", "reasoning", "budgetTokens"]} label="Reasoning tokens" />
              <ConfigField path={["model", "reasoning", "summary"]} label="Reasoning summary" />
            </Row>
            <ConfigField path={["model", "reasoning", "includeThoughts"]} label="Include reasoning" />
          </Section>
          <Section title="Price" about="US dollars per million tokens. If unset, the model's list price applies. A cost budget needs one of the two.">
            <Row>
              <ConfigField path={["model", "price", "input"]} label="Input" />
              <ConfigField path={["model", "price", "output"]} label="Output" />
              <ConfigField path={["model", "price", "cachedInput"]} label="Cached input" />
              <ConfigField path={["model", "price", "cacheWrite"]} label="Cache writes" />
            </Row>
          </Section>
          <Section title="Provider options">
            <PieceField path={["model", "providerOptions"]} label="Provider options" placeholder="top_p: 0.9" />
          </Section>
        </>
      )}
    </Sheet>
  );
}

// What the model "script" plays is a text in its options.
function ScriptField() {
  const { draft, dispatch, disabled } = useDraftContext();
  const path = ["model", "providerOptions", "script"] as const;
  return (
    <CodeArea
      label="Script"
      value={String(getIn(draft.config, path) ?? "")}
      rows={14}
      disabled={disabled}
      error={wrongAt(draft.wrongs, path)}
      hint="Replaces the model. `say TEXT` and `call TOOL {…}` are its actions, `---` starts the next answer, `else` starts an alternative, `when` and `hears` choose between them. The script itself names its spaces."
      onChange={(text) => dispatch({ type: "set", path, value: text })}
    />
  );
}

/** What the tab shows for an agent whose runs a program outside of the server executes. */
function RemoteModel() {
  return (
    <Sheet>
      <Section title="Executed by a program" about="A program outside of the server claims the runs of this agent and chooses the model. It needs a key of this agent.">
        <Row>
          <ConfigField path={["remote", "concurrency"]} label="Runs at the same time" />
          <ConfigField path={["remote", "expiresInMs"]} label="Requests expire after (ms)" />
        </Row>
      </Section>
    </Sheet>
  );
}
