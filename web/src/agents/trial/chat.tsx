// The conversation of a trial: its messages as everywhere, and a line to write in.
import { SendHorizontal } from "lucide-react";
import { type KeyboardEvent, useId, useState } from "react";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api } from "@/api/client";
import { useConsole } from "@/app/console";
import { sendKeyWords, sends } from "@/app/send-key";
import { useSettings } from "@/app/settings";
import { useConnection, useMessage, useName, useRuns, useSpace } from "@/live/hooks";
import { PartView } from "@/parts/part-view";
import { Button } from "@/ui/button";
import { classes } from "@/ui/classes";
import { Failed } from "@/ui/placeholder";
import { MessageState, RunState } from "@/ui/state";
import { Moment } from "@/ui/time";
import type { Trial } from "./trial";

export function TrialChat({ trial }: { trial: Trial }) {
  const space = useSpace(trial.space);
  const order = space?.order ?? [];
  return (
    <>
      {/* A reversed column holds its end while it grows, and its place while somebody reads above. */}
      <div role="log" aria-live="off" aria-label="Messages of the trial" tabIndex={0} className="flex min-h-40 flex-1 flex-col-reverse overflow-y-auto px-4 py-3">
        <div className="mb-auto flex flex-col gap-4">
          {order.length === 0 && <p className="text-soft">Write something: the draft answers.</p>}
          {order.map((id) => (
            <TrialMessage key={id} id={id} />
          ))}
          <Runs agent={trial.agent} />
        </div>
      </div>
      <Composer trial={trial} />
    </>
  );
}

function TrialMessage({ id }: { id: string }) {
  const message = useMessage(id);
  const name = useName(message?.entityId ?? "");
  if (message === undefined) return null;
  return (
    <article className="flex flex-col gap-1.5">
      <header className="flex flex-wrap items-center gap-2 text-sm">
        <h3 className="font-semibold">{name}</h3>
        <Moment at={message.createdAt} />
        {message.status !== "completed" && <MessageState status={message.status} />}
      </header>
      {message.parts.map((part) => (
        <PartView key={part.id} message={message} part={part} />
      ))}
    </article>
  );
}

// A run that says nothing in the space is seen here all the same.
function Runs({ agent }: { agent: string }) {
  const { session } = useConsole();
  const runs = useRuns().filter((r) => r.agentId === agent);
  const newest = [...runs].sort((a, b) => b.createdAt.localeCompare(a.createdAt))[0];
  if (newest === undefined) return null;
  return (
    <div className="flex flex-col gap-1 rounded-md bg-sunken px-3 py-2 text-sm">
      <div className="flex flex-wrap items-center gap-2">
        <RunState status={newest.status} />
        <span className="text-soft">
          {newest.steps === 1 ? "1 step" : `${newest.steps} steps`}, {newest.usage.inputTokens + newest.usage.outputTokens} tokens
        </span>
        <Link to="/s/$session/runs/$run" params={{ session, run: newest.id }} target="_blank" className="text-accent underline">
          See the run (new tab)
        </Link>
      </div>
      {newest.error !== null && <p className="text-bad">{newest.error.message}</p>}
      {newest.status === "completed" && <p className="text-soft">The model's own text is private: what it does not say with sendSpaceMessage is only in the run.</p>}
    </div>
  );
}

function Composer({ trial }: { trial: Trial }) {
  const { session } = useConsole();
  const { sendKey } = useSettings();
  const isLive = useConnection().state === "live";
  const id = useId();
  const [text, setText] = useState("");
  const sending = useMutation({
    mutationFn: (said: string) =>
      api.POST("/v1/sessions/{session}/spaces/{space}/messages", {
        params: { path: { session, space: trial.space } },
        body: { text: said, mentions: [trial.agent] },
        headers: { "Idempotency-Key": crypto.randomUUID() },
      }),
    onSuccess: () => setText(""),
  });
  const send = () => {
    if (text.trim() !== "" && isLive && !sending.isPending) sending.mutate(text);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || !sends(event, sendKey)) return;
    event.preventDefault();
    send();
  };
  return (
    <div className="border-t border-line p-3">
      {sending.isError && <Failed error={sending.error} />}
      <label htmlFor={id} className="sr-only">
        Message to the draft
      </label>
      <div className="flex items-end gap-2">
        <textarea
          id={id}
          value={text}
          rows={2}
          placeholder="Write to the draft"
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          className="min-w-0 flex-1 resize-none rounded-md border border-edge bg-surface px-3 py-2 placeholder:text-soft"
        />
        <Button tone="primary" icon={<SendHorizontal aria-hidden className="size-4" />} busy={sending.isPending} disabled={!isLive || text.trim() === ""} onClick={send}>
          Send
        </Button>
      </div>
      <p className={classes("mt-1 text-xs text-soft", isLive && "touch:hidden")}>{!isLive ? "The server does not answer: nothing can be sent now." : sendKeyWords[sendKey]}</p>
    </div>
  );
}
