// The page for those who join: a person whom an invitation has led here chooses a name and is in, without
// a sign-in; and a signed-in person decides about a program that wants to join.
import { type FormEvent, useState } from "react";
import { call } from "@/api/client";
import { signedInWith } from "@/signin/sign-in";
import { type Caller, ShoalError } from "@shoal-dev/client";
import { Copyable } from "@/connect/copyable";
import { Button } from "@/ui/button";
import { TextField } from "@/ui/field";
import { onDemand } from "@/ui/on-demand";
import { Loading } from "@/ui/placeholder";

interface Joined extends Caller {
  readonly signIn: string;
  /** The person's key, which is in this answer only. */
  readonly key: string;
}

/** What the person gets by joining. */
interface Membership {
  readonly secret: string;
  readonly name: string;
  readonly session: string;
}

// The code is in the fragment, which appears in no request and no log. It is removed from the
// address before it is used, and kept for the page, which may be drawn twice.
function takeCode(): string {
  const code = new URLSearchParams(location.hash.slice(1)).get("invite") ?? "";
  if (code !== "") history.replaceState(null, "", location.pathname);
  return code;
}

const code = takeCode();
const program = new URLSearchParams(location.search).get("request");

const AuthorizePage = onDemand(() => import("@/authorize/authorize-page").then((m) => m.AuthorizePage), { loading: <Loading /> });

/** The page. */
export function JoinPage() {
  const [joined, setJoined] = useState<Membership>();
  if (program !== null) return <AuthorizePage query={program} />;
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-6 px-6 py-10">
      <img src="/favicon.svg" alt="" className="size-10" />
      {joined !== undefined ? <Welcome {...joined} /> : code === "" ? <NoCode /> : <NameForm onJoined={setJoined} />}
    </main>
  );
}

function NoCode() {
  return (
    <>
      <h1 className="text-2xl font-semibold">This link is not complete</h1>
      <p className="text-soft">
        An invitation ends with <code className="font-mono">#invite=</code> and a code. Open it exactly as you received it. If you opened it before, sign in instead.
      </p>
      <a href="/" className="text-accent underline">
        Sign in to Shoal
      </a>
    </>
  );
}

function NameForm({ onJoined }: { onJoined: (joined: Membership) => void }) {
  const [name, setName] = useState("");
  const [problem, setProblem] = useState<ShoalError>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const chosen = name.trim();
    if (chosen === "") {
      setProblem(new ShoalError(422, "invalid_argument", "Type a name first."));
      return;
    }
    setBusy(true);
    setProblem(undefined);
    try {
      const answer = await call<Joined>("POST", "/console/join", { code, name: chosen });
      await signedInWith(answer.signIn);
      onJoined({ secret: answer.key, name: chosen, session: answer.sessionId ?? "default" });
    } catch (error) {
      setProblem(ShoalError.from(error));
    } finally {
      setBusy(false);
    }
  };
  const spent = problem?.status === 401;
  return (
    <>
      <div className="flex flex-col gap-2">
        <h1 className="text-2xl font-semibold">You are invited to Shoal</h1>
        <p className="text-soft">People and AI agents talk and work together here. Choose the name that others see; you can change it later.</p>
      </div>
      {spent && (
        <div role="alert" className="rounded-md border border-warn bg-warn-soft p-4 text-warn">
          <p className="font-medium">This invitation does not work any more.</p>
          <p className="mt-1 text-sm">It works for one person, once, and for a limited time. Ask the person who sent it for another one.</p>
        </div>
      )}
      {!spent && (
        <form onSubmit={(e) => void submit(e)} noValidate className="flex flex-col gap-4">
          <TextField label="Your name" value={name} onChange={(e) => setName(e.target.value)} autoComplete="name" maxLength={200} autoFocus placeholder="Ann Lee" error={problem?.message} />
          <Button tone="primary" type="submit" busy={busy}>
            Join
          </Button>
        </form>
      )}
    </>
  );
}

function Welcome({ secret, name, session }: Membership) {
  return (
    <>
      <div className="flex flex-col gap-2">
        <h1 className="text-2xl font-semibold">Welcome, {name}</h1>
        <p className="text-soft">You are signed in here. Keep this key where you keep passwords: it signs you in on another device, and here after 12 hours without use. It is shown only now.</p>
      </div>
      <Copyable name="Your key" text={secret} />
      <a href={`/s/${encodeURIComponent(session)}`} className="inline-flex h-9 touch:h-11 items-center justify-center rounded-md bg-accent px-4 font-medium text-accent-ink">
        Open Shoal
      </a>
    </>
  );
}
