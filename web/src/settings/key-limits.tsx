// What a new key leaves of its role: what it may do, and in which spaces.
import { useQuery } from "@tanstack/react-query";
import { api } from "@/api/client";
import { allPages } from "@shoal-dev/client";
import { ScopeChoices, SpaceChoices } from "@/connect/choices";
import { scopesOf } from "@/connect/scopes";
import { CheckField } from "@/ui/field";
import { Failed, Loading } from "@/ui/placeholder";

export interface Limits {
  readonly everything: boolean;
  readonly chosen: ReadonlySet<string>;
  readonly everywhere: boolean;
  readonly spaces: ReadonlySet<string>;
}

export const unlimited: Limits = { everything: true, chosen: new Set(["read", "post"]), everywhere: true, spaces: new Set() };

/** The scopes of limits, and why they cannot be used. */
export function scopesOfLimits(l: Limits): { readonly scopes: string[]; readonly wrong?: string } {
  const scopes = scopesOf(l.chosen, l.everything, l.everywhere ? [] : [...l.spaces]);
  if (!l.everything && l.chosen.size === 0) return { scopes, wrong: "Choose at least one thing that it may do." };
  if (!l.everywhere && l.spaces.size === 0) return { scopes, wrong: "Choose at least one space." };
  return { scopes };
}

interface Props {
  readonly session: string;
  readonly value: Limits;
  readonly onChange: (value: Limits) => void;
}

/** The fields. */
export function LimitFields({ session, value, onChange }: Props) {
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="text-sm font-medium">It may</legend>
      <CheckField label="Do everything that its role allows" checked={value.everything} onChange={(e) => onChange({ ...value, everything: e.target.checked })} />
      {!value.everything && <ScopeChoices chosen={value.chosen} onChange={(chosen) => onChange({ ...value, chosen })} />}
      <CheckField label="In all spaces" checked={value.everywhere} onChange={(e) => onChange({ ...value, everywhere: e.target.checked })} />
      {!value.everywhere && <Spaces session={session} chosen={value.spaces} onChange={(spaces) => onChange({ ...value, spaces })} />}
    </fieldset>
  );
}

function Spaces({ session, chosen, onChange }: { session: string; chosen: ReadonlySet<string>; onChange: (chosen: ReadonlySet<string>) => void }) {
  const found = useQuery({
    queryKey: [session, "all-spaces"],
    queryFn: () => allPages((cursor) => api.GET("/v1/sessions/{session}/spaces", { params: { path: { session }, query: { limit: 200, cursor } } })),
  });
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  if (found.isPending) return <Loading />;
  return <SpaceChoices spaces={found.data.filter((s) => s.status === "open")} chosen={chosen} onChange={onChange} />;
}
