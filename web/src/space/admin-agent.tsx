// Which agent answers a space when nobody is mentioned.
import { useEntities } from "@/live/hooks";
import { SelectField } from "@/ui/field";

/** The hosted agents among some entities, by name. */
export function useHosted(ids: readonly string[]): { id: string; name: string }[] {
  return useEntities()
    .filter((e) => e.hosted && ids.includes(e.id))
    .map((e) => ({ id: e.id, name: e.name }))
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** Chooses the admin agent among the hosted agents of `members`; empty means no admin agent. */
export function AdminAgentField({ members, value, change, error }: { members: readonly string[]; value: string; change: (id: string) => void; error?: string | undefined }) {
  const hosted = useHosted(members);
  const needed = hosted.length > 1;
  return (
    <SelectField label="Admin agent" hint={needed ? "This space has several hosted agents. Choose the one that answers messages without a mention." : "Answers messages without a mention."} value={value} onChange={(e) => change(e.target.value)} error={error}>
      <option value="">{needed ? "Choose one" : hosted.length === 1 ? `None (${hosted[0]?.name ?? ""} answers anyway)` : "None"}</option>
      {hosted.map((e) => (
        <option key={e.id} value={e.id}>
          {e.name}
        </option>
      ))}
    </SelectField>
  );
}
