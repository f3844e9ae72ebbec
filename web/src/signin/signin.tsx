// The page for visitors who are not signed in: how to get a link, and a field for a key. It
// explains why a link did not work.
import { KeyRound } from "lucide-react";
import { type FormEvent, useState } from "react";
import { ShoalError } from "@shoal-dev/client";
import { signIn } from "./sign-in";
import { Button } from "@/ui/button";
import { CopyButton } from "@/ui/copy";
import { TextField } from "@/ui/field";
import { WithProvider } from "./with-provider";

export { signIn };

/** `refused` is why the link in the address did not work. */
export function SignIn({ refused, onSignedIn }: { refused: ShoalError | undefined; onSignedIn: () => void }) {
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-6 px-6 py-10">
      <div className="flex flex-col gap-3">
        <img src="/favicon.svg" alt="" className="size-10" />
        <h1 className="text-2xl font-semibold">Sign in to Shoal</h1>
      </div>
      {refused !== undefined && <Refused problem={refused} />}
      <WithProvider />
      <section aria-labelledby="link" className="flex flex-col gap-2">
        <h2 id="link" className="text-lg font-semibold">
          {refused === undefined ? "With a link" : "With a new link"}
        </h2>
        <p className="text-soft">Run this on the server's machine and open the printed link in this browser. A link works once, within ten minutes.</p>
        <div className="flex items-center justify-between gap-2 rounded-md border border-line bg-sunken py-1 pr-1 pl-3">
          <code className="font-mono">shoal console</code>
          <CopyButton text="shoal console" />
        </div>
        <p className="text-sm text-soft">The server also prints a link when it starts.</p>
      </section>
      <KeyForm onSignedIn={onSignedIn} />
    </main>
  );
}

function Refused({ problem }: { problem: ShoalError }) {
  const spent = problem.status === 401;
  return (
    <div role="alert" className="rounded-md border border-warn bg-warn-soft p-4 text-warn">
      <p className="font-medium">{spent ? "This sign-in link has expired." : "This link could not be used."}</p>
      <p className="mt-1 text-sm">
        {spent
          ? "A link works once, within ten minutes. It may have been opened in another window or on another device. Create a new one."
          : problem.message}
      </p>
    </div>
  );
}

function KeyForm({ onSignedIn }: { onSignedIn: () => void }) {
  const [key, setKey] = useState("");
  const [wrong, setWrong] = useState<string>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const trimmed = key.trim();
    if (trimmed === "") {
      setWrong("Paste your key first.");
      return;
    }
    setBusy(true);
    setWrong(undefined);
    try {
      await signIn({ key: trimmed });
      setKey("");
      onSignedIn();
    } catch (error) {
      setWrong(explained(ShoalError.from(error)));
    } finally {
      setBusy(false);
    }
  };
  return (
    <section aria-labelledby="key" className="flex flex-col gap-3 border-t border-line pt-6">
      <h2 id="key" className="text-lg font-semibold">
        With a key
      </h2>
      <form onSubmit={(e) => void submit(e)} noValidate className="flex flex-col gap-3">
        <TextField
          label="Your key"
          hint="It starts with shoal_. Ask an admin for one; you then act as the participant that it belongs to. The browser stores a separate sign-in, not the key."
          type="password"
          autoComplete="off"
          spellCheck={false}
          value={key}
          onChange={(e) => setKey(e.target.value)}
          error={wrong}
        />
        <div>
          <Button type="submit" tone="primary" busy={busy} icon={<KeyRound aria-hidden className="size-4" />}>
            Sign in
          </Button>
        </div>
      </form>
    </section>
  );
}

/** The message for a key that did not work. */
export function explained(problem: ShoalError): string {
  if (problem.status === 0 && problem.code !== "not_kept") return "Server unreachable. Try again in a moment.";
  if (problem.status === 401) return "Invalid key. It may have been revoked, have expired, or belong to another server. Check that you copied all of it.";
  return problem.message;
}
