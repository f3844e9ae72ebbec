// The page on which a person decides whether a program may act as an agent. The program has sent the
// browser here; what it says of itself is not verified.
import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { type Caller, type Entity, type Space, ShoalError } from "@shoal-dev/client";
import { Identity } from "@/app/identity";
import { ScopeChoices, SpaceChoices } from "@/connect/choices";
import { wrongID } from "@/connect/identity";
import { scopesOf } from "@/connect/scopes";
import { Button } from "@/ui/button";
import { CheckField, SelectField, TextField } from "@/ui/field";
import { Failed, Loading } from "@/ui/placeholder";
import { agentsOf, decide, describe, type Request, sessionOf, spacesOf } from "./consent";

/** The page. `query` is the request as the program has made it. */
export function AuthorizePage({ query }: { query: string }) {
  return <Identity>{(me) => <Asked me={me} query={query} />}</Identity>;
}

function Asked({ me, query }: { me: Caller; query: string }) {
  const asked = useQuery({
    queryKey: ["oauth-request", query],
    retry: false,
    staleTime: Infinity,
    queryFn: async () => {
      const found = await describe(query);
      if (found.url !== "") location.replace(found.url);
      return found;
    },
  });
  const agents = useQuery({ queryKey: ["oauth-agents"], queryFn: () => agentsOf(me), staleTime: Infinity });
  const spaces = useQuery({ queryKey: ["oauth-spaces"], queryFn: () => spacesOf(me), staleTime: Infinity });
  const problem = asked.error ?? agents.error ?? spaces.error;
  return (
    <main className="mx-auto flex min-h-dvh max-w-lg flex-col justify-center gap-6 px-6 py-10">
      <img src="/favicon.svg" alt="" className="size-10" />
      {problem !== null ? (
        <Stopped problem={ShoalError.from(problem)} />
      ) : asked.data === undefined || agents.data === undefined || spaces.data === undefined || asked.data.url !== "" ? (
        <Loading />
      ) : (
        <Choice me={me} query={query} request={asked.data} agents={agents.data} spaces={spaces.data} />
      )}
    </main>
  );
}

function Stopped({ problem }: { problem: ShoalError }) {
  return (
    <>
      <h1 className="text-2xl font-semibold">This program cannot be connected</h1>
      <Failed error={problem} />
    </>
  );
}

interface Props {
  readonly me: Caller;
  readonly query: string;
  readonly request: Request;
  readonly agents: readonly Entity[];
  readonly spaces: readonly Space[];
}

function Choice({ me, query, request, agents, spaces }: Props) {
  const may = me.acts.includes("connect_agent");
  const taken = agents.some((a) => a.id === request.agent);
  const [existing, setExisting] = useState(taken ? request.agent : "");
  const [id, setID] = useState(request.agent);
  const [joined, setJoined] = useState<ReadonlySet<string>>(new Set(spaces.some((s) => s.id === "welcome") ? ["welcome"] : []));
  const [only, setOnly] = useState(false);
  const [everything, setEverything] = useState(request.scopes.length === 0);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(request.scopes.length > 0 ? request.scopes : ["read", "post"]));
  const [wrong, setWrong] = useState<string>();
  const session = sessionOf(me);
  const answer = useMutation({
    mutationFn: (approve: boolean) => {
      const inSpaces = [...joined];
      return decide(query, {
        approve,
        session,
        agent: existing !== "" ? existing : id.trim(),
        name: existing !== "" ? "" : id.trim() === request.agent ? request.client : id.trim(),
        spaces: inSpaces,
        scopes: scopesOf(chosen, everything, only ? inSpaces : []),
      });
    },
    onSuccess: (url) => location.assign(url),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const fault = existing === "" ? wrongID(id.trim()) : undefined;
    const nothing = !everything && chosen.size === 0;
    setWrong(fault ?? (nothing ? "Choose at least one thing that it may do." : undefined));
    if (fault === undefined && !nothing) answer.mutate(true);
  };
  const busy = answer.isPending || answer.isSuccess;
  const where = request.local ? "a program on this machine" : request.host;
  return (
    <>
      <div className="flex flex-col gap-2">
        <h1 className="text-2xl font-semibold break-words">Let “{request.client}” act in Shoal?</h1>
        <p className="text-soft">
          {request.document === "" ? (
            "The program has given itself this name; nobody has verified it."
          ) : (
            <>
              A file at <b className="break-all text-ink">{request.document}</b> gives the program this name; nothing else is known of it.
            </>
          )}{" "}
          Your answer goes to <b className="break-all text-ink">{where}</b>
          {request.local ? ` (${request.host})` : ""}. Continue only if you have just started it yourself.
        </p>
        <p className="text-sm text-soft">
          You are signed in as <b className="text-ink">{me.entityId ?? me.role}</b>, in the session {session}.
        </p>
      </div>
      {!may && (
        <p role="alert" className="rounded-md border border-warn bg-warn-soft p-4 text-warn">
          You cannot connect programs: your role in this session, or the key with which you have signed in, does not allow it. Ask an owner of the session.
        </p>
      )}
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        {may && (
          <>
            <SelectField label="It acts as" value={existing} onChange={(e) => setExisting(e.target.value)}>
              <option value="">A new agent of yours</option>
              {agents.map((a) => (
                <option key={a.id} value={a.id}>
                  {a.name === a.id ? a.id : `${a.name} (${a.id})`}
                </option>
              ))}
            </SelectField>
            {existing === "" && <TextField label="Id" value={id} onChange={(e) => setID(e.target.value)} autoComplete="off" spellCheck={false} hint="Used in mentions. It cannot be changed later." />}
            <Spaces spaces={spaces} chosen={joined} onChange={setJoined} only={only} onOnly={setOnly} />
            <Rights request={request} everything={everything} onEverything={setEverything} chosen={chosen} onChange={setChosen} />
          </>
        )}
        {wrong !== undefined && (
          <p role="alert" className="text-sm text-bad">
            {wrong}
          </p>
        )}
        {answer.isError && <Failed error={answer.error} />}
        <div className="flex gap-3">
          {may && (
            <Button tone="primary" type="submit" busy={busy}>
              Allow
            </Button>
          )}
          <Button type="button" disabled={busy} onClick={() => answer.mutate(false)}>
            Deny
          </Button>
        </div>
        <p className="text-sm text-soft">To end it later, revoke the key with this name under Settings, Keys, or with shoal keys revoke.</p>
      </form>
    </>
  );
}

interface SpacesProps {
  readonly spaces: readonly Space[];
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
  readonly only: boolean;
  readonly onOnly: (only: boolean) => void;
}

function Spaces({ spaces, chosen, onChange, only, onOnly }: SpacesProps) {
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="text-sm font-medium">It joins these spaces</legend>
      <SpaceChoices spaces={spaces} chosen={chosen} onChange={onChange} />
      <CheckField label="It works in these spaces only" checked={only} disabled={chosen.size === 0} onChange={(e) => onOnly(e.target.checked)} />
    </fieldset>
  );
}

interface RightsProps {
  readonly request: Request;
  readonly everything: boolean;
  readonly onEverything: (everything: boolean) => void;
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}

function Rights({ request, everything, onEverything, chosen, onChange }: RightsProps) {
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="text-sm font-medium">It may</legend>
      {request.scopes.length === 0 && <CheckField label="Do everything that the role of the agent allows, also create spaces" checked={everything} onChange={(e) => onEverything(e.target.checked)} />}
      {!everything && <ScopeChoices offered={request.scopes.length === 0 ? undefined : request.scopes} chosen={chosen} onChange={onChange} />}
    </fieldset>
  );
}
