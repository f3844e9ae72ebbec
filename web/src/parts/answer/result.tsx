// Results of tools that people execute: acknowledged, chosen by a button, or filled
// in; or an error that says why there is no result.
import { Ellipsis } from "lucide-react";
import { type ReactNode, useId, useMemo, useState } from "react";
import type { PendingAction } from "@shoal-dev/client";
import { Button, IconButton } from "@/ui/button";
import { AreaField } from "@/ui/field";
import { label } from "../renderers/words";
import { Words } from "../words/words";
import type { Answering } from "./answering";
import { acknowledged, errorBody, resultBody } from "./body";
import { FormAnswer } from "./forms";
import { jsonFault } from "./json-fault";
import { type Ask, askOf, type Short, shortOf } from "./schema";

interface Props {
  readonly pending: PendingAction;
  readonly answering: Answering;
  readonly disabled: boolean;
}

type Way = "short" | "json" | "error";

/** The input that suits the result schema, followed by the other ways to answer. */
export function ResultAnswer({ pending, answering, disabled }: Props) {
  const schema = pending.resultSchema ?? undefined;
  const asked = useMemo(() => (schema === undefined ? undefined : askOf(schema)), [schema]);
  const [way, setWay] = useState<Way>("short");
  const off = disabled || answering.busy;
  const turn = (to: Way) => {
    answering.setFaults(new Map());
    setWay(to);
  };
  const others = <Others json={asked?.kind !== "json"} disabled={off} turn={turn} />;
  if (way === "short") return <Suited asked={asked} choice={pending.choose === "one"} answering={answering} disabled={off} others={others} />;
  return (
    <div className="flex flex-col gap-3">
      {way === "json" ? <JsonAnswer answering={answering} disabled={off} /> : <ErrorAnswer answering={answering} disabled={off} />}
      <Button small tone="quiet" className="w-fit text-soft" disabled={off} onClick={() => turn("short")}>
        {asked === undefined || shortOf(asked) !== undefined ? "Back to the buttons" : "Back to the form"}
      </Button>
    </div>
  );
}

// What few need appears on request. A menu would be cut off where the message ends.
function Others({ json, disabled, turn }: { json: boolean; disabled: boolean; turn: (to: Way) => void }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <>
      <IconButton label="More ways to answer" aria-expanded={open} aria-controls={open ? id : undefined} onClick={() => setOpen(!open)}>
        <Ellipsis aria-hidden className="size-4" />
      </IconButton>
      {open && (
        <span id={id} className="flex flex-wrap gap-1">
          {json && (
            <Button small tone="quiet" className="text-soft" disabled={disabled} onClick={() => turn("json")}>
              Answer with JSON
            </Button>
          )}
          <Button small tone="quiet" className="text-soft" disabled={disabled} onClick={() => turn("error")}>
            Report a problem
          </Button>
        </span>
      )}
    </>
  );
}

interface SuitedProps {
  readonly answering: Answering;
  readonly disabled: boolean;
  /** The button that opens other ways to answer. */
  readonly others: ReactNode;
}

function Suited({ asked, choice, ...rest }: SuitedProps & { asked: Ask | undefined; choice: boolean }) {
  if (asked === undefined) {
    const { answering, disabled, others } = rest;
    return (
      <div className="flex flex-wrap items-center gap-2">
        <Button tone="primary" disabled={disabled} busy={answering.busy} onClick={() => void answering.send(resultBody(acknowledged))}>
          OK
        </Button>
        {others}
      </div>
    );
  }
  const short = shortOf(asked);
  if (short !== undefined) return choice && short.ask.kind === "yes-no" ? <Choice short={short} {...rest} /> : <Buttons asked={asked} short={short} {...rest} />;
  return <FormAnswer asked={asked} {...rest} />;
}

function Buttons({ asked, short, answering, disabled, others }: SuitedProps & { asked: Ask; short: Short }) {
  const { ask, name } = short;
  const called = ask.title !== "" ? ask.title : name === undefined ? "" : label(name);
  const options =
    ask.kind === "yes-no"
      ? [true, false].map((value) => ({ value: value as unknown, words: called === "" ? (value ? "Yes" : "No") : `${called}: ${value ? "yes" : "no"}` }))
      : ask.options;
  const about = [ask.kind === "choice" ? called : "", asked === ask ? "" : asked.about, ask.about].filter((s) => s !== "").join(" — ");
  return (
    <div className="flex flex-col gap-2">
      {about !== "" && (
        <p dir="auto">
          <Words text={about.slice(0, 1000)} />
        </p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <div role="group" aria-label={called === "" ? "Answer" : called} className="flex flex-wrap gap-2">
          {options.map((o, i) => (
            <Button key={i} disabled={disabled} className="h-auto max-w-full py-1.5 text-left whitespace-normal [overflow-wrap:anywhere]" onClick={() => void answering.send(resultBody(resultOf(name, o.value)))}>
              <span dir="auto">
                <Words text={o.words.slice(0, 300)} />
              </span>
            </Button>
          ))}
        </div>
        {others}
      </div>
      <Faults answering={answering} />
    </div>
  );
}

const resultOf = (name: string | undefined, value: unknown): string => (name === undefined ? JSON.stringify(value) : `{${JSON.stringify(name)}:${JSON.stringify(value)}}`);

// One of several alternatives: choosing it settles the others, too.
function Choice({ short: { name }, answering, disabled, others }: SuitedProps & { short: Short }) {
  const answer = (chosen: boolean) => void answering.send(resultBody(resultOf(name, chosen)));
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <Button tone="primary" disabled={disabled} busy={answering.busy} onClick={() => answer(true)}>
          Choose
        </Button>
        <Button tone="quiet" className="text-soft" disabled={disabled} onClick={() => answer(false)}>
          Skip
        </Button>
        {others}
      </div>
      <Faults answering={answering} />
    </div>
  );
}

function JsonAnswer({ answering, disabled }: { answering: Answering; disabled: boolean }) {
  const [text, setText] = useState("");
  const send = () => {
    const fault = text.trim() === "" ? "Required" : jsonFault(text);
    if (fault === undefined) void answering.send(resultBody(text.trim()));
    else answering.setFaults(new Map([["", fault]]));
  };
  const faults = [...answering.faults].map(([path, fault]) => (path === "" ? fault : `${path}: ${fault}`)).join("; ");
  return (
    <div className="flex max-w-xl flex-col gap-2">
      <AreaField label="Result as JSON" hint="Sent exactly as it is written." className="font-mono" spellCheck={false} rows={5} value={text} disabled={disabled} error={faults === "" ? undefined : faults} onChange={(e) => setText(e.target.value)} />
      <Button tone="primary" className="w-fit" disabled={disabled} busy={answering.busy} onClick={send}>
        Answer
      </Button>
    </div>
  );
}

function ErrorAnswer({ answering, disabled }: { answering: Answering; disabled: boolean }) {
  const [why, setWhy] = useState("");
  return (
    <div className="flex max-w-xl flex-col gap-2">
      <AreaField label="Problem" hint="The agent receives this text instead of a result and continues." rows={2} value={why} disabled={disabled} error={answering.faults.get("error")} onChange={(e) => setWhy(e.target.value)} />
      <Button tone="danger" className="w-fit" disabled={disabled || why.trim() === ""} busy={answering.busy} onClick={() => void answering.send(errorBody(why.trim()))}>
        Report problem
      </Button>
    </div>
  );
}

function Faults({ answering }: { answering: Answering }) {
  if (answering.faults.size === 0) return null;
  return (
    <ul role="alert" className="text-sm text-bad">
      {[...answering.faults].map(([path, fault]) => (
        <li key={path}>
          <Words text={path === "" ? fault : `${path}: ${fault}`} />
        </li>
      ))}
    </ul>
  );
}
