import { ConfigField } from "../forms/config-field";
import { Row, Section, Sheet } from "../forms/layout";

/** How far a run may go, what it sees of the past, and what it may use. */
export function LimitsTab() {
  return (
    <Sheet>
      <Section title="A run" about="0 is no limit, but for the number of steps.">
        <Row>
          <ConfigField path={["loop", "maxSteps"]} label="Steps at most" />
          <ConfigField path={["loop", "continuation"]} label="Ask for more steps" />
          <ConfigField path={["loop", "runTimeoutMs"]} label="Time of a run (ms)" />
          <ConfigField path={["loop", "toolTimeoutMs"]} label="Time of a tool (ms)" />
          <ConfigField path={["loop", "maxConsecutiveErrors"]} label="Errors in a row" hint="More of them end the run." />
          <ConfigField path={["loop", "maxIdenticalCalls"]} label="Identical calls" hint="The same call again more often ends the run." />
          <ConfigField path={["loop", "maxParallelTools"]} label="Tools at once" />
          <ConfigField path={["loop", "toolChoice"]} label="Use of tools" hint="Whether the model may, must or must not call tools." />
        </Row>
      </Section>
      <Section title="The past">
        <ConfigField path={["context", "conversation"]} plain label="It sees its own earlier runs" />
        <Row>
          <ConfigField path={["context", "history"]} label="Messages of the space" />
          <ConfigField path={["context", "reduction", "strategy"]} label="Making it shorter" />
          <ConfigField path={["context", "reduction", "target"]} label="Messages that stay" />
          <ConfigField path={["context", "reduction", "threshold"]} label="Messages more than that" />
        </Row>
      </Section>
      <Section title="Spaces of others" about="A run acts for the people behind it: whoever wrote the message, made the plan or called the service.">
        <Row>
          <ConfigField path={["access", "read"]} label="Whose rights to read" />
          <ConfigField path={["access", "write"]} label="Whose rights to write" />
        </Row>
      </Section>
      <Section title="Membership">
        <ConfigField path={["invite"]} label="Who may add it to spaces" placeholder="anyone" />
      </Section>
      <Section title="Budget" about="0 is no limit.">
        <Row>
          <ConfigField path={["budget", "maxTokensPerRun"]} label="Tokens of a run" />
          <ConfigField path={["budget", "maxCostPerDay"]} label="Cost of a day (USD)" />
        </Row>
      </Section>
    </Sheet>
  );
}
