// The members that an "@" may mean, over the composer.
import type { Member } from "@shoal-dev/client";
import { useEntity } from "@/live/hooks";
import { Avatar } from "@/ui/avatar";
import { classes } from "@/ui/classes";
import { EntityState } from "@/ui/state";

/** The id of an option's element. */
export const optionId = (menu: string, at: number) => `${menu}-${at}`;

export function MentionMenu({ id, members, chosen, pick }: { id: string; members: readonly Member[]; chosen: number; pick: (m: Member) => void }) {
  return (
    <ul id={id} role="listbox" aria-label="Members to mention" className="absolute bottom-full left-0 z-20 mb-1 max-h-72 w-full max-w-md overflow-y-auto rounded-lg border border-line bg-raised p-1 shadow-lg">
      {members.map((m, i) => (
        <Option key={m.entityId} id={optionId(id, i)} member={m} chosen={i === chosen} pick={pick} />
      ))}
    </ul>
  );
}

function Option({ id, member, chosen, pick }: { id: string; member: Member; chosen: boolean; pick: (m: Member) => void }) {
  const entity = useEntity(member.entityId);
  return (
    <li
      id={id}
      role="option"
      aria-selected={chosen}
      ref={(element) => {
        if (chosen) element?.scrollIntoView({ block: "nearest" });
      }}
      // The focus stays in the text.
      onMouseDown={(event) => {
        event.preventDefault();
        pick(member);
      }}
      className={classes("flex min-h-9 touch:min-h-11 cursor-pointer items-center gap-2 rounded-md px-2", chosen ? "bg-accent-soft" : "hover:bg-sunken")}
    >
      <Avatar id={member.entityId} name={member.name} kind={member.kind} />
      <span className="min-w-0 flex-1 truncate">
        {member.name} <span className="text-sm text-soft">@{member.entityId}</span>
      </span>
      {entity !== undefined && member.kind === "agent" && <EntityState state={entity.state} />}
    </li>
  );
}
