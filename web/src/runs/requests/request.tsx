// One request to a model, laid out to be read: the system prompt, the tools, the
// messages in the order in which they were sent.
import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import type { ModelMessage, ModelRequest, ModelTool } from "@shoal-dev/client";
import { Words } from "@/parts/words/words";
import { Badge } from "@/ui/badge";
import { classes } from "@/ui/classes";
import { CopyButton } from "@/ui/copy";
import { Diff } from "@/ui/diff";
import { laidOut } from "../json";
import { contentText, contentTitle, has, messageHas, type News, pieces } from "./request-diff";

interface Props {
  request: ModelRequest;
  news: News;
  /** The system prompt of the step before, if it is known. */
  before: string | undefined;
  /** What is searched for; what does not hold it is left out. */
  words: string;
  onlyNew: boolean;
  /** The number, counted from 1, of the step that the news are since. */
  since: number;
}

export function Request({ request, news, before, words, onlyNew, since }: Props) {
  const tools = request.tools.filter((t) => (!onlyNew || news.tools.has(t.name)) && toolHas(t, words));
  const messages = request.messages.map((m, i) => ({ m, i, fresh: news.fresh[i] === true })).filter(({ m, fresh }) => (!onlyNew || fresh) && messageHas(m, words));
  const system = (!onlyNew || news.system) && has(request.system, words);
  const nothing = !system && tools.length === 0 && messages.length === 0;
  return (
    <div className="flex flex-col gap-3">
      {news.dropped > 0 && <p className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">The history was made shorter for the model: {news.dropped === 1 ? "one message" : `${news.dropped} messages`} of step {since} were not sent again as they stood.</p>}
      {nothing && <p className="text-soft">{words === "" ? `Nothing is new since step ${since}.` : `“${words}” is in nothing that is shown.`}</p>}
      {system && (
        <Fold title="System prompt" open={words !== "" || onlyNew} mark={news.system ? `changed since step ${since}` : undefined} copy={request.system}>
          {news.system && before !== undefined && words === "" ? <Diff label="What changed in the system prompt" before={before} after={request.system} /> : <Text text={request.system} words={words} />}
        </Fold>
      )}
      {tools.length > 0 && (
        <Fold title={`Tools (${tools.length})`} open={words !== "" || onlyNew} copy={laidOut(request.tools)}>
          <ul className="flex flex-col gap-2">
            {tools.map((t) => (
              <li key={t.name}>
                <Tool tool={t} words={words} mark={news.tools.has(t.name) ? `new since step ${since}` : undefined} />
              </li>
            ))}
          </ul>
        </Fold>
      )}
      {messages.length > 0 && (
        <section aria-label="Messages to the model">
          <h3 className="mb-2 font-semibold">Messages</h3>
          <ol className="flex flex-col gap-2">
            {messages.map(({ m, i, fresh }) => (
              <li key={i} value={i + 1}>
                <MessageCard message={m} number={i + 1} words={words} mark={fresh ? `new since step ${since}` : undefined} />
              </li>
            ))}
          </ol>
        </section>
      )}
    </div>
  );
}

function toolHas(t: ModelTool, words: string): boolean {
  return has(t.name, words) || has(t.description, words) || has(JSON.stringify(t.inputSchema), words);
}

function MessageCard({ message, number, words, mark }: { message: ModelMessage; number: number; words: string; mark: string | undefined }) {
  const roles: Record<string, string> = { user: "border-l-accent", assistant: "border-l-info", tool: "border-l-edge", system: "border-l-warn" };
  return (
    <article aria-label={`Message ${number}, ${message.role}`} className={classes("rounded-lg border border-l-4 border-line bg-surface px-3 py-2", roles[message.role])}>
      <div className="flex flex-wrap items-center gap-2 text-sm">
        <span className="text-soft tabular-nums">{number}</span>
        <h4 className="font-semibold">{message.role}</h4>
        {mark !== undefined && <Badge tone="accent">{mark}</Badge>}
        <span className="ml-auto">
          <CopyButton text={message.content.map(contentText).join("\n\n")} />
        </span>
      </div>
      {message.content.map((c, i) => (
        <div key={i} className="mt-1 min-w-0">
          {c.type !== "text" && <p className="text-xs font-medium text-soft">{contentTitle(c)}</p>}
          <Text text={c.type === "tool_result" ? laidOut(contentText(c)) : contentText(c)} words={words} code={c.type === "tool_call" || c.type === "tool_result"} />
        </div>
      ))}
    </article>
  );
}

function Tool({ tool, words, mark }: { tool: ModelTool; words: string; mark: string | undefined }) {
  return (
    <Fold title={tool.name} about={tool.description} level={4} open={words !== "" && has(JSON.stringify(tool.inputSchema), words)} mark={mark} copy={laidOut(tool)}>
      <p className="mb-1 text-sm">
        <Marked text={tool.description} words={words} />
      </p>
      <Text text={laidOut(tool.inputSchema)} words={words} code />
    </Fold>
  );
}

// A part that is folded until somebody wants it. What a search has found is open.
function Fold({ title, about, level = 3, open, mark, copy, children }: { title: string; about?: string; level?: 3 | 4; open: boolean; mark?: string | undefined; copy: string; children: ReactNode }) {
  const Heading = level === 3 ? "h3" : "h4";
  return (
    <details key={String(open)} open={open} className="group rounded-lg border border-line bg-surface">
      <summary className="flex min-h-9 touch:min-h-11 list-none items-center gap-2 rounded-lg px-3 hover:bg-sunken">
        <ChevronRight aria-hidden className="size-4 shrink-0 text-soft group-open:rotate-90" />
        <Heading className="shrink-0 font-semibold">
          {title}
        </Heading>
        {mark !== undefined && <Badge tone="accent">{mark}</Badge>}
        {about !== undefined && <span className="min-w-0 truncate text-sm text-soft group-open:hidden">{about}</span>}
      </summary>
      <div className="border-t border-line p-3">
        <div className="mb-1 flex justify-end">
          <CopyButton text={copy} />
        </div>
        {children}
      </div>
    </details>
  );
}

function Text({ text, words, code = false }: { text: string; words: string; code?: boolean }) {
  if (text === "") return <p className="text-sm text-soft">(empty)</p>;
  return (
    <div className={classes("text-sm break-words whitespace-pre-wrap", code && "font-mono text-xs")}>
      <Marked text={text} words={words} />
    </div>
  );
}

function Marked({ text, words }: { text: string; words: string }) {
  return pieces(text, words).map((piece, i) =>
    i % 2 === 1 ? (
      <mark key={i} className="rounded-sm bg-warn-soft font-semibold text-warn">
        <Words text={piece} />
      </mark>
    ) : (
      <Words key={i} text={piece} />
    ),
  );
}
