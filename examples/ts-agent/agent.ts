// A program that executes the runs of the remote agent clerk: it streams a text, shows a card,
// and books a trip after a person has approved the call.
//
//   shoal agents apply -f clerk.yaml   # with remote: {}
//   export SHOAL_URL=http://127.0.0.1:7462
//   export SHOAL_KEY=$(shoal keys create --entity clerk --join welcome -q)
//   npm install @shoal-dev/client
//   node agent.ts                      # before Node 22.18: npx tsx agent.ts
//   shoal send welcome 'Book me a trip to Oslo' -m clerk
//
// A function plays the model; replace it with one of the SDKs of model vendors.
import { DeniedError, serveAgent, Shoal, type Work } from "@shoal-dev/client";

const { SHOAL_URL: url = "http://127.0.0.1:7462", SHOAL_KEY: key = "" } = process.env;

interface Trip {
  readonly to: string;
}

/** The tool: what it returns is what the model reads. */
const book = ({ to }: Trip): string => `booked: ${to}`;

/** The model: it reads what started the run, and streams what it says. */
async function* model(prompt: string): AsyncGenerator<string | Trip> {
  const to = /trip to (\p{Lu}\p{L}+)/u.exec(prompt.slice(prompt.lastIndexOf("<message")))?.[1] ?? "Oslo";
  for (const word of ["(scripted) ", "Here ", "is ", "a ", "trip. "]) yield word;
  yield { to };
}

async function answer(work: Work): Promise<void> {
  for await (const piece of model(work.claimed.prompt)) {
    if (typeof piece === "string") {
      await work.text(piece);
      continue;
    }
    await work.card("TripCard", piece);
    const said = await work.call("book", piece, book, { permission: true, title: `Book a trip to ${piece.to}` }).catch((error: unknown) => {
      if (error instanceof DeniedError) return "nothing, as it was not approved";
      throw error;
    });
    await work.text(`(scripted) The tool says: ${said}.`);
  }
  await work.usage("scripted", { input: 12, output: 9 });
}

const stop = new AbortController();
process.once("SIGINT", () => stop.abort());
process.once("SIGTERM", () => stop.abort());
await serveAgent(new Shoal({ url, key }), "clerk", answer, { signal: stop.signal, onError: (error) => console.error(String(error)) });
