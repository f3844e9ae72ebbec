// Chooses the participant that an admin acts as: its spaces are shown, and it is the sender of messages.
import { useConsole } from "@/app/console";
import { useEntities } from "@/live/hooks";
import { SelectField } from "@/ui/field";

/** A choice of the session's entities. It takes effect at once. */
export function ActAs() {
  const { actor, setActor } = useConsole();
  const entities = [...useEntities()].sort((a, b) => a.kind.localeCompare(b.kind) * -1 || a.name.localeCompare(b.name));
  return (
    <div className="max-w-xl">
      <SelectField
        label="You act as"
        hint="Messages that you send come from this participant, and unread counts are its own. Without one you can read everything and send nothing."
        value={actor ?? ""}
        onChange={(e) => setActor(e.target.value === "" ? null : e.target.value)}
      >
        <option value="">None: read only</option>
        {actor !== null && !entities.some((e) => e.id === actor) && <option value={actor}>{actor}</option>}
        {entities.map((e) => (
          <option key={e.id} value={e.id}>
            {e.name === e.id ? e.id : `${e.name} (${e.id})`}, {e.kind === "human" ? "person" : "agent"}
          </option>
        ))}
      </SelectField>
    </div>
  );
}
