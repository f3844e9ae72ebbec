import { ConfigField } from "../forms/config-field";
import { Section, Sheet } from "../forms/layout";
import { getIn } from "../config/json";
import { useDraftContext } from "../draft";

const ofTheServer = "The server adds the agent's name and description before this text, and how spaces work after it. “What the model sees” shows the complete prompt.";
const ofAProgram = "The program that runs the agent gets this text with each run, and decides what else its model reads.";

/** The agent's identity and prompt. */
export function InstructionsTab() {
  const { draft } = useDraftContext();
  return (
    <Sheet>
      <Section title="Identity">
        <ConfigField path={["agent", "name"]} label="Name" />
        <ConfigField path={["agent", "description"]} label="Description" rows={2} />
      </Section>
      <Section title="Prompt" about={getIn(draft.config, ["remote"]) === undefined ? ofTheServer : ofAProgram}>
        <ConfigField path={["agent", "system"]} label="System prompt" rows={14} />
        <ConfigField path={["agent", "instructions"]} label="Instructions" rows={5} />
      </Section>
    </Sheet>
  );
}
