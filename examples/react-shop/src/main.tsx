// A shop on a page of its own: an agent shows laptops as cards, asks the page where the shopper
// is, and orders after an approval. README.md says how to start it.
import { type Message, Shoal } from "@shoal-dev/client";
import { createRenderers, ShoalProvider, ToolCall, type ToolProps, useActiveRuns, useComposer, useConnection, useMessage, useMessageIds, usePresence, useRun, useTool } from "@shoal-dev/react";
import { type FormEvent, StrictMode, useEffect, useRef } from "react";
import { createRoot } from "react-dom/client";
import "./shop.css";

// The address of the server and the key of the shopper come after the #, which no request has.
const { url = "", key = "", space = "shop", me = "ann" } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

interface Product {
  readonly name: string;
  readonly about: string;
  readonly price: number;
}

const dollars = (price: number | undefined): string => price?.toLocaleString("en-US", { style: "currency", currency: "USD", maximumFractionDigits: 0 }) ?? "";

function ProductCard({ args, result, action, submit, status }: ToolProps<Product, { chosen: boolean }>) {
  const chosen = result?.chosen === true;
  return (
    <article className="card product" data-chosen={chosen} data-status={status}>
      <div className="picture" aria-hidden />
      <h2>{args.name}</h2>
      <p>{args.about}</p>
      <footer>
        <b>{dollars(args.price)}</b>
        {action ? <button onClick={() => void submit({ chosen: true })} aria-label={`Choose ${args.name}`}>Choose</button> : chosen ? <span className="badge">Chosen</span> : null}
      </footer>
    </article>
  );
}

function Store({ result, error }: ToolProps<{ product: string }, { store: string; minutes: number }>) {
  return <article className="card line"><span>{error ?? (result ? <><b>{result.store}</b>, {result.minutes} minutes on foot</> : "Looking for a store near you …")}</span></article>;
}

function Order({ args, action, answer, status }: ToolProps<{ product: string; price: number }>) {
  return (
    <article className="card line">
      <span><b>{args.product}</b> for {dollars(args.price)}</span>
      {action ? (
        <span className="choices">
          <button className="quiet" onClick={() => void answer({ approved: false })}>Not now</button>
          <button onClick={() => void answer({ approved: true })}>Approve</button>
        </span>
      ) : (
        <span className="badge">{status === "done" ? "Ordered" : status === "denied" ? "Not ordered" : "…"}</span>
      )}
    </article>
  );
}

const renderers = createRenderers({ ProductCard, findStore: Store, placeOrder: Order });

// What only this page knows. A real shop would use navigator.geolocation and a list of stores.
const nearestStore = async ({ product }: { product: string }) => ({ store: product.includes("Pro") ? "Hafenstraße 3" : "Holstenstraße 12", minutes: 8 });

function MessageView({ id }: { id: string }) {
  const message = useMessage(id);
  return message === undefined ? null : <Bubble message={message} />;
}

function Bubble({ message: { entityId, parts, status } }: { message: Pick<Message, "entityId" | "parts"> & { status: string } }) {
  return (
    <section className={entityId === me ? "message mine" : "message"} data-status={status}>
      {parts.map((part) => (part.type === "text" && "text" in part ? <p key={part.id} className="bubble">{part.text}</p> : <ToolCall key={part.id} part={part} />))}
    </section>
  );
}

function Stop({ run }: { run: string }) {
  const { cancel } = useRun(run);
  return <button type="button" className="quiet" onClick={() => void cancel()}>Stop</button>;
}

function Shop() {
  const ids = useMessageIds(space);
  const { send, outgoing, retry } = useComposer(space);
  const working = useActiveRuns(space).filter((r) => r.status === "running");
  const members = usePresence(space);
  const connection = useConnection();
  const end = useRef<HTMLDivElement>(null);
  useTool("findStore", nearestStore, { space });
  useEffect(() => {
    const observer = new ResizeObserver(() => end.current?.scrollIntoView());
    if (end.current?.parentElement) observer.observe(end.current.parentElement);
    return () => observer.disconnect();
  }, []);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get("text")).trim();
    event.currentTarget.reset();
    if (text !== "") void send(text);
  }

  return (
    <main>
      <header>
        <h1>Lark &amp; Wren</h1>
        <span className="members">{members.map((m) => <span key={m.id} data-state={m.state}>{m.id === me ? "You" : m.name}</span>)}</span>
      </header>
      <div className="timeline">
        <div>
          {ids.length === 0 && connection.state === "live" && <p className="empty">What are you looking for?</p>}
          {ids.map((id) => <MessageView key={id} id={id} />)}
          {outgoing.map((o) => (
            <section key={o.key} className="message mine" data-status="outgoing">
              <p className="bubble">{o.text}</p>
              {o.refused !== null && <button className="quiet" onClick={() => void retry(o.key)}>{o.refused} Send again</button>}
            </section>
          ))}
          <div ref={end} />
        </div>
      </div>
      {connection.state !== "live" && <p role="status" className="connection">{"detail" in connection ? connection.detail : connection.state === "signed-out" ? "Your key is not valid any more." : "Connecting …"}</p>}
      <form onSubmit={submit}>
        <input name="text" aria-label="Message" placeholder="I need a laptop" autoComplete="off" />
        {working.map((r) => <Stop key={r.id} run={r.id} />)}
        <button>Send</button>
      </form>
    </main>
  );
}

const root = createRoot(document.getElementById("root") as HTMLElement);
if (url === "" || key === "") root.render(<main><p className="empty">Open this page with the address of a server and a key: #url=…&amp;key=…</p></main>);
else {
  const client = new Shoal({ url, key });
  root.render(<StrictMode><ShoalProvider client={client} renderers={renderers}><Shop /></ShoalProvider></StrictMode>);
}
