// Every look of every part in every state, with fixed data and without a server: to
// be looked at, and to be checked by machines.
import type { ReactNode } from "react";
import { Page } from "@/ui/page";
import { Answer } from "./answer/answer";
import { answers, looks, parts, prose, states } from "./gallery-parts";
import { Markdown } from "./markdown/markdown";
import { Value } from "./renderers/value";
import { StillPart } from "./still-part";
import { ToolCard } from "./tool/card";

const names: Record<string, string> = { ada: "Ada", "shop-agent": "Shop Agent" };
const nameOf = (id: string) => (Object.hasOwn(names, id) ? (names[id] ?? id) : id);
const never = () => new Promise<never>(() => undefined);

export function Gallery() {
  return (
    <Page title="Gallery" about="Every part in each of its states.">
      <div className="flex max-w-read flex-col gap-8 p-5">
        <Group title="Text">
          <Example title="Markdown">
            <Markdown text={prose} />
          </Example>
          <Example title="Growing">
            <Markdown streaming text={"Here is **a bold word that is not yet clo\n\n```json\n{\"half\": tr"} />
          </Example>
          <Example title="Interrupted">
            <StillPart over={false} part={{ id: "prt_1", type: "text", text: "The three laptops are the", status: "interrupted" }} />
          </Example>
          <Example title="Shown to another member">
            <StillPart over part={{ id: "prt_2", type: "tool_call", private: true }} />
          </Example>
        </Group>
        <Group title="Tool calls">
          {states.map((s) => (
            <Example key={s.title} title={s.title}>
              <ToolCard
                part={s.part}
                over={s.over}
                pending={s.pending}
                took={s.took}
                nameOf={nameOf}
                answer={s.pending?.status === "open" ? <Answer pending={s.pending} submit={never} nameOf={nameOf} /> : undefined}
              />
            </Example>
          ))}
        </Group>
        <Group title="Files and data">
          {parts.map((p) => (
            <Example key={p.title} title={p.title}>
              <StillPart over part={p.part} />
            </Example>
          ))}
        </Group>
        <Group title="Values">
          {looks.map((l) => (
            <Example key={l.title} title={l.title}>
              <Value value={l.value} hint={l.hint} />
            </Example>
          ))}
        </Group>
        <Group title="Answers">
          {answers.map((a) => (
            <Example key={a.title} title={a.title}>
              <Answer pending={a.pending} blocked={a.blocked} submit={never} nameOf={nameOf} />
            </Example>
          ))}
        </Group>
      </div>
    </Page>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-4">
      <h2 className="text-lg font-semibold">{title}</h2>
      {children}
    </section>
  );
}

function Example({ title, children }: { title: string; children: ReactNode }) {
  return (
    <article className="flex min-w-0 flex-col gap-1">
      <h3 className="text-sm text-soft">{title}</h3>
      <div className="min-w-0">{children}</div>
    </article>
  );
}
