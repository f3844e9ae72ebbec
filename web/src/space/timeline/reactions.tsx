// The reactions to a message, each a button that adds or takes back one's own.
import { api } from "@/api/client";
import { type Message, ShoalError } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useLive } from "@/live/hooks";
import { classes } from "@/ui/classes";
import { notify } from "@/ui/notice";

/** Those that are offered first. */
export const offered = ["👍", "❤️", "😂", "🎉", "👀", "✅"];

/** Adds or removes a reaction of the acting participant; returns whether it succeeded. */
export function useReact(message: Message): (emoji: string, remove: boolean) => Promise<void> {
  const { session } = useConsole();
  return async (emoji, remove) => {
    const params = { path: { session, message: message.id, emoji } };
    const path = "/v1/sessions/{session}/messages/{message}/reactions/{emoji}";
    try {
      await (remove ? api.DELETE(path, { params }) : api.PUT(path, { params }));
    } catch (error) {
      notify(ShoalError.from(error).message);
    }
  };
}

export function Reactions({ message }: { message: Message }) {
  const { actor, may } = useConsole();
  const react = useReact(message);
  const store = useLive();
  if (message.reactions.length === 0) return null;
  return (
    <ul aria-label="Reactions" className="mt-1 flex flex-wrap gap-1">
      {message.reactions.map((r) => {
        const mine = actor !== null && r.entityIds.includes(actor);
        const who = r.entityIds.map((id) => store.live.entities.get(id)?.name ?? id).join(", ");
        return (
          <li key={r.emoji}>
            <button
              type="button"
              aria-pressed={mine}
              aria-label={`${r.emoji} ${r.entityIds.length}: ${who}`}
              title={who}
              disabled={actor === null || !may("post")}
              onClick={() => void react(r.emoji, mine)}
              className={classes("inline-flex min-h-6 touch:min-h-11 items-center gap-1 rounded-full border px-2 text-sm", mine ? "border-accent bg-accent-soft" : "border-line bg-surface hover:bg-sunken")}
            >
              <span aria-hidden>{r.emoji}</span>
              <span aria-hidden className="tabular-nums">{r.entityIds.length}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
