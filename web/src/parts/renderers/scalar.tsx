// One value: a text, a number, yes or no, a moment, an address.
import { address } from "../words/address";
import { Link } from "../words/link";
import { LongWords } from "../words/words";
import { JsonTree } from "./json";
import { isMoney, isScalar } from "./shape";
import { momentOf, plain } from "./words";

const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const email = /^[\w.+-]+@[\w-]+(\.[\w-]+)+$/;

/** A single value; anything else as a tree. */
export function Scalar({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <span className="text-soft">none</span>;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (!isScalar(value) && !isMoney(value)) return <JsonTree value={value} />;
  if (typeof value !== "string") return <span className="tabular-nums">{plain(value)}</span>;
  const at = momentOf(value);
  if (at !== undefined) {
    return (
      <time dateTime={value} title={value}>
        {whole.format(at)}
      </time>
    );
  }
  if (value.length < 2000 && address(value) !== undefined) return <Link href={value} words={value} />;
  if (value.length < 200 && email.test(value)) return <Link href={`mailto:${value}`} words={value} />;
  return (
    <span className="whitespace-pre-wrap [overflow-wrap:anywhere]" dir="auto">
      <LongWords text={value} />
    </span>
  );
}
