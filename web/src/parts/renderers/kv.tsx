// An object as names and values; with a title and a price it looks like the card
// of a product.
import { LongWords, Words } from "../words/words";
import { Scalar } from "./scalar";
import { type Fields, isScalar } from "./shape";
import { label, moneyOf, titleKey, toldElsewhere } from "./words";

const subtitles = ["subtitle", "about", "description", "summary"];

/** Names and values in the order of the object; `titled` if its title is shown already. */
export function KeyValues({ value, titled = false }: { value: Fields; titled?: boolean }) {
  const keys = Object.keys(value).filter((k) => k !== "x-shoal" && !toldElsewhere(value, k));
  const title = titleKey(value);
  const about = title === undefined ? undefined : keys.find((k) => subtitles.includes(k) && typeof value[k] === "string");
  const rest = keys.filter((k) => k !== title && k !== about);
  return (
    <div className="flex flex-col gap-2">
      {title !== undefined && (!titled || about !== undefined) && (
        <div>
          {!titled && (
            <p className="text-base font-semibold [overflow-wrap:anywhere]" dir="auto">
              <LongWords text={String(value[title])} limit={300} />
            </p>
          )}
          {about !== undefined && (
            <p className="whitespace-pre-wrap text-soft [overflow-wrap:anywhere]" dir="auto">
              <LongWords text={String(value[about])} />
            </p>
          )}
        </div>
      )}
      {rest.length > 0 && (
        <dl className="grid grid-cols-[minmax(5rem,auto)_minmax(0,1fr)] gap-x-4 gap-y-1">
          {rest.map((k) => (
            <Row key={k} name={k} object={value} />
          ))}
        </dl>
      )}
    </div>
  );
}

function Row({ name, object }: { name: string; object: Fields }) {
  const sum = moneyOf(object, name);
  return (
    <>
      <dt className="max-w-48 text-soft [overflow-wrap:anywhere]">
        <Words text={label(name).slice(0, 200)} />
      </dt>
      <dd className={isScalar(object[name]) ? "min-w-0" : "min-w-0 overflow-x-auto"}>{sum === undefined ? <Scalar value={object[name]} /> : <span className="font-semibold tabular-nums">{sum}</span>}</dd>
    </>
  );
}
