import { ConfigField } from "../forms/config-field";
import { Row, Section, Sheet } from "../forms/layout";

/** How far a run may go, what it sees of the past, and what it may use. */
export function LimitsTab() {
  return (
    <Sheet>
      <Section title="Run" about="0 means no limit, except for the number of steps.">
        <Row>
          <ConfigField path={["loop", "maxSteps"]} label="Max steps" />
          <ConfigField path={["loop", "continuation"]} label="Ask for more steps" />
          <ConfigField path={["loop", "closingAnswer"]} label="Answer at a limit" />
          <ConfigField path={["loop", "runTimeoutMs"]} label="Run timeout (ms)" />
          <ConfigField path={["loop", "toolTimeoutMs"]} label="Tool timeout (ms)" />
          <ConfigField path={["loop", "maxConsecutiveErrors"]} label="Max consecutive errors" hint="The run ends when there are more." />
          <ConfigField path={["loop", "maxIdenticalCalls"]} label="Max identical calls" hint="The run ends when the model repeats a call more often." />
          <ConfigField path={["loop", "maxParallelTools"]} label="Max parallel tools" />
          <ConfigField path={["loop", "toolChoice"]} label="Tool choice" hint="Whether the model may, must or must not call tools." />
        </Row>
      </Section>
      <Section title="History">
        <ConfigField path={["context", "conversation"]} plain label="Include its earlier runs" />
        <Row>
          <ConfigField path={["context", "history"]} label="Messages from the space" />
          <ConfigField path={["context", "reduction", "strategy"]} label="Compaction" />
          <ConfigField path={["context", "reduction", "target"]} label="Messages to keep" />
          <ConfigField path={["context", "reduction", "threshold"]} label="Compact when exceeded by" />
        </Row>
      </Section>
      <Section title="Access to spaces" about="A run acts on behalf of its requesters: the author of the message, the creator of the plan or the service that started it.">
        <Row>
          <ConfigField path={["access", "read"]} label="Read access" />
          <ConfigField path={["access", "write"]} label="Write access" />
        </Row>
      </Section>
      <Section title="Membership">
        <ConfigField path={["invite"]} label="Who may add it to spaces" placeholder="anyone" />
      </Section>
      <Section title="Budget" about="0 means no limit.">
        <Row>
          <ConfigField path={["budget", "maxTokensPerRun"]} label="Tokens per run" />
          <ConfigField path={["budget", "maxCostPerDay"]} label="Cost per day (USD)" />
        </Row>
      </Section>
    </Sheet>
  );
}
