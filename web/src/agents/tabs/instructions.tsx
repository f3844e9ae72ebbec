import { ConfigField } from "../forms/config-field";
import { Section, Sheet } from "../forms/layout";

/** Who the agent is, and what it is told. */
export function InstructionsTab() {
  return (
    <Sheet>
      <Section title="Who it is">
        <ConfigField path={["agent", "name"]} label="Name" />
        <ConfigField path={["agent", "description"]} label="Description" rows={2} />
      </Section>
      <Section title="What it is told" about="Before this the model is told its name and what it is for, behind it how spaces work here: “What the model sees” has it all.">
        <ConfigField path={["agent", "system"]} label="System prompt" rows={14} />
        <ConfigField path={["agent", "instructions"]} label="Instructions" rows={5} />
      </Section>
    </Sheet>
  );
}
