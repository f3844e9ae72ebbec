// The part of the sign-in page for accounts at an OpenID provider.
import { useMutation, useQuery } from "@tanstack/react-query";
import { LogIn } from "lucide-react";
import { ShoalError } from "@shoal-dev/client";
import { Button } from "@/ui/button";
import { beginSignIn, finishSignIn, providerName } from "./provider";

const finished = finishSignIn();

/** The button with the provider's name, and why a sign-in with it failed. Nothing without a provider. */
export function WithProvider() {
  const name = useQuery({ queryKey: ["provider"], queryFn: async () => (await providerName()) ?? null, staleTime: Infinity });
  const done = useQuery({
    queryKey: ["provider-answer"],
    enabled: finished !== undefined,
    retry: false,
    staleTime: Infinity,
    queryFn: async () => {
      const to = (await finished) ?? "/";
      // The page loads again: nothing of another person remains in memory.
      location.replace(to);
      return to;
    },
  });
  const begin = useMutation({ mutationFn: beginSignIn });
  if (typeof name.data !== "string") return null;
  const problem = begin.error ?? done.error;
  const busy = begin.isPending || begin.isSuccess || (finished !== undefined && !done.isError);
  return (
    <section aria-label={name.data} className="flex flex-col gap-3">
      {problem !== null && (
        <div role="alert" className="rounded-md border border-warn bg-warn-soft p-4 text-warn">
          <p className="font-medium">You are not signed in.</p>
          <p className="mt-1 text-sm">{ShoalError.from(problem).message}</p>
        </div>
      )}
      <Button tone="primary" busy={busy} icon={<LogIn aria-hidden className="size-4" />} onClick={() => begin.mutate()}>
        Sign in with {name.data}
      </Button>
    </section>
  );
}
