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
              <ConfigField path={["model", "maxOutputTokens"]} label="Output tokens at most" />
            </Row>
          </>
        )}
      </Section>
      {provider !== "script" && (
        <>
          <Section title="Reasoning" about="Whether the model thinks first, where it can.">
            <ConfigField path={["model", "reasoning", "enabled"]} label="Think before answering" />
            <Row>
              <ConfigField path={["model", "reasoning", "effort"]} label="Effort" />
              <ConfigField path={["model", "reasoning", "budgetTokens"]} label="Tokens to think with" />
              <ConfigField path={["model", "reasoning", "summary"]} label="Summary of the thoughts" />
            </Row>
            <ConfigField path={["model", "reasoning", "includeThoughts"]} label="Include the thoughts" />
          </Section>
          <Section title="Price" about="In US dollars for a million tokens. Without it the model's list price counts, if it has one; a budget in dollars needs one of the two.">
            <Row>
              <ConfigField path={["model", "price", "input"]} label="Input" />
              <ConfigField path={["model", "price", "output"]} label="Output" />
              <ConfigField path={["model", "price", "cachedInput"]} label="Cached input" />
              <ConfigField path={["model", "price", "cacheWrite"]} label="Cache writes" />
            </Row>
          </Section>
          <Section title="More for the vendor">
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
      hint="What is played instead of asking a model: `say TEXT` and `call TOOL {…}` are what it does, `---` begins its next answer, `else` another one, `when` and `hears` choose between them. A script names its spaces itself."
      onChange={(text) => dispatch({ type: "set", path, value: text })}
    />
  );
}
