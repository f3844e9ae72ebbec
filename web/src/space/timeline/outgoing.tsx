// Messages of one's own that are on their way.
import { Clock, Paperclip, TriangleAlert } from "lucide-react";
import { useConsole } from "@/app/console";
import { useConnection, useEntity, useName } from "@/live/hooks";
import { Avatar } from "@/ui/avatar";
import { Button } from "@/ui/button";
import { classes } from "@/ui/classes";
import type { Outgoing } from "@shoal-dev/client/live";
import { useOutbox } from "../composer/use-outbox";
import { beside } from "./message";

export function OutgoingView({ outgoing }: { outgoing: Outgoing }) {
  const { actor } = useConsole();
  const name = useName(actor ?? "");
  const kind = useEntity(actor ?? "")?.kind ?? "human";
  const box = useOutbox();
  const { state } = useConnection();
  const refused = outgoing.refused !== null;
  return (
    <article aria-label={`${name}, ${refused ? "not sent" : "sending"}`} className={classes("rounded-lg px-3 pt-2.5 pb-1", beside)}>
      <header className="relative mb-0.5 flex flex-wrap items-center gap-2">
        <Avatar id={actor ?? ""} name={name} kind={kind} size="message" />
        <h3 className="font-semibold">{name}</h3>
        {!refused && (
          <span className="inline-flex items-center gap-1 text-sm text-soft">
            <Clock aria-hidden className="size-3.5" />
            {state === "live" ? "sending" : "will be sent when the server is back"}
          </span>
        )}
      </header>
      <p className={refused ? "wrap-anywhere whitespace-pre-wrap" : "wrap-anywhere whitespace-pre-wrap text-soft"}>{outgoing.text}</p>
      {outgoing.files.map((f) => (
        <p key={f.url} className="inline-flex items-center gap-1 text-sm text-soft">
          <Paperclip aria-hidden className="size-3.5" />
          {f.name}
        </p>
      ))}
      {refused && (
        <div role="alert" className="mt-1 flex flex-wrap items-center gap-2 text-sm text-bad">
          <span className="min-w-0 wrap-anywhere">
            <TriangleAlert aria-hidden className="mr-1 inline size-4 align-text-bottom" />
            Not sent: {outgoing.refused}
          </span>
          <Button small onClick={() => void box.retry(outgoing.key)}>
            Try again
          </Button>
          <Button small tone="quiet" onClick={() => void box.discard(outgoing.key)}>
            Discard
          </Button>
        </div>
      )}
    </article>
  );
}
