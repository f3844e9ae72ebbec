import { describe, expect, it } from "vitest";
import { around, growBy, mostMounted, mountedFirst, newest, range, settled, type View, withNewer, withOlder } from "./view";

const upTo = (n: number, from = 1) => Array.from({ length: n - from + 1 }, (_, i) => from + i);
const count = (seqs: readonly number[], view: View) => {
  const [start, end] = range(seqs, view);
  return end - start;
};

describe("the mounted stretch of a timeline", () => {
  it("begins with the newest messages", () => {
    expect(newest(upTo(300))).toEqual({ from: 241, to: null });
    expect(newest(upTo(3))).toEqual({ from: 1, to: null });
    expect(newest([])).toEqual({ from: 0, to: null });
    expect(newest([...upTo(90), ...upTo(300, 290)])).toEqual({ from: 290, to: null });
  });

  it("never exceeds the limit, however far the reader scrolls", () => {
    const seqs = upTo(1000);
    let view = newest(seqs);
    for (let i = 0; i < 1000 / growBy; i++) {
      view = withOlder(seqs, view);
      expect(count(seqs, view)).toBeLessThanOrEqual(mostMounted);
    }
    expect(view.from).toBe(1);
    for (let i = 0; i < 1000 / growBy; i++) {
      view = withNewer(seqs, view);
      expect(count(seqs, view)).toBeLessThanOrEqual(mostMounted);
    }
    expect(view.to).toBeNull();
  });

  it("goes up and down without leaving anything out", () => {
    const seqs = upTo(500);
    const seen = new Set<number>();
    let view = newest(seqs);
    const look = () => seqs.slice(...range(seqs, view)).forEach((s) => seen.add(s));
    for (let i = 0; i < 500 / growBy; i++, look()) view = withOlder(seqs, view);
    seen.clear();
    look();
    for (let i = 0; i < 500 / growBy; i++, look()) view = withNewer(seqs, view);
    expect(seen.size).toBe(500);
  });

  it("keeps the scroll position of a reader who has scrolled up when messages arrive", () => {
    const view = newest(upTo(60));
    const held = settled(upTo(400), view, false);
    expect(held.from).toBe(view.from);
    expect(count(upTo(400), held)).toBe(mostMounted);
    expect(settled(upTo(401), held, false)).toBe(held);
  });

  it("sheds the oldest while the reader follows the newest", () => {
    const view = newest(upTo(60));
    expect(settled(upTo(100), view, true)).toBe(view);
    expect(count(upTo(130), settled(upTo(130), view, true))).toBe(mountedFirst);
  });

  it("jumps to the newest if its messages were removed", () => {
    expect(settled(upTo(950, 900), { from: 10, to: 40 }, false)).toEqual(newest(upTo(950, 900)));
  });

  it("can be laid round a message", () => {
    expect(around(upTo(300), 100)).toEqual({ from: 75, to: 125 });
    expect(around(upTo(300), 290)).toEqual({ from: 265, to: null });
    expect(around(upTo(300), 1)).toEqual({ from: 1, to: 26 });
  });
});
