// The looks that few messages need are loaded when the first of them is there.
import { lazy, Suspense, type ComponentProps } from "react";

const LazyChart = lazy(() => import("./chart").then((m) => ({ default: m.Chart })));
const LazyDiff = lazy(() => import("./diff").then((m) => ({ default: m.Diff })));
const LazyTable = lazy(() => import("./table").then((m) => ({ default: m.DataTable })));

const waiting = <p className="text-sm text-soft">Loading…</p>;

export const Chart = (props: ComponentProps<typeof LazyChart>) => (
  <Suspense fallback={waiting}>
    <LazyChart {...props} />
  </Suspense>
);
export const Diff = (props: ComponentProps<typeof LazyDiff>) => (
  <Suspense fallback={waiting}>
    <LazyDiff {...props} />
  </Suspense>
);
export const DataTable = (props: ComponentProps<typeof LazyTable>) => (
  <Suspense fallback={waiting}>
    <LazyTable {...props} />
  </Suspense>
);
