// Which part of a timeline is mounted: a stretch of at most `mostMounted` messages,
// from `from` on, up to `to` or, where `to` is null, to the newest. Pure.
//
// While the reader is at the newest message the stretch ends there. A reader who
// has scrolled up keeps what is on the screen: nothing above it is dropped because
// something new has come.

/** How many messages are mounted at most. */
export const mostMounted = 200;
/** How many are mounted at first, and again after a jump to the newest. */
export const mountedFirst = 60;
/**
 * By how many a stretch grows: as many as a browser can draw between two frames, and
 * more than the screen moves in one.
 */
export const growBy = 12;
/** How many are mounted on each side of a message that a link leads to. */
const aroundIt = 25;

/** A stretch of a timeline, by `seq`. */
export interface View {
  readonly from: number;
  readonly to: number | null;
}

/** The stretch that ends with the newest message; it does not reach over a hole. */
export function newest(seqs: readonly number[]): View {
  let at = seqs.length - 1;
  while (at > 0 && seqs.length - at < mountedFirst && seqs[at - 1] === (seqs[at] ?? 0) - 1) at--;
  return { from: seqs[at] ?? 0, to: null };
}

/** The stretch round a message. */
export function around(seqs: readonly number[], seq: number): View {
  const at = lowerBound(seqs, seq);
  const last = Math.min(seqs.length - 1, at + aroundIt);
  return { from: seqs[Math.max(0, at - aroundIt)] ?? 0, to: last >= seqs.length - 1 ? null : (seqs[last] ?? null) };
}

/** The indexes of the stretch: from the first one up to, not including, the second. */
export function range(seqs: readonly number[], view: View): readonly [number, number] {
  const start = lowerBound(seqs, view.from);
  const end = view.to === null ? seqs.length : lowerBound(seqs, view.to + 1);
  return [start, Math.max(start, end)];
}

/** The stretch with older messages that are here; the same one if there are none. */
export function withOlder(seqs: readonly number[], view: View): View {
  const [start, end] = range(seqs, view);
  if (start === 0) return view;
  const first = Math.max(0, start - growBy);
  const last = Math.min(end, first + mostMounted);
  return { from: seqs[first] ?? 0, to: last === seqs.length && view.to === null ? null : (seqs[last - 1] ?? null) };
}

/** The stretch with newer messages that are here; the same one if it ends with the newest. */
export function withNewer(seqs: readonly number[], view: View): View {
  if (view.to === null) return view;
  const [start, end] = range(seqs, view);
  const last = Math.min(seqs.length, end + growBy);
  return { from: seqs[Math.max(start, last - mostMounted)] ?? 0, to: last === seqs.length ? null : (seqs[last - 1] ?? null) };
}

/** The stretch after messages have come or gone: see the head of this file. */
export function settled(seqs: readonly number[], view: View, following: boolean): View {
  const [start, end] = range(seqs, view);
  if (start === end) return seqs.length === 0 ? view : newest(seqs);
  if (view.to !== null) return view;
  if (following) return end - start > 2 * mountedFirst ? newest(seqs) : view;
  return end - start > mostMounted ? { from: view.from, to: seqs[start + mostMounted - 1] ?? null } : view;
}

/** The first index whose value is not below `seq`. */
function lowerBound(seqs: readonly number[], seq: number): number {
  let low = 0;
  let high = seqs.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if ((seqs[mid] ?? 0) < seq) low = mid + 1;
    else high = mid;
  }
  return low;
}
