// What is shown in place of a renderer that throws; the page stays.
import { Component, type ReactNode } from "react";

interface Props {
  /** The value that is drawn; a different value resets the boundary. */
  readonly of: unknown;
  readonly children: ReactNode;
  /** What is shown instead of children that throw; without it, the value as JSON. */
  readonly fallback?: ReactNode;
}

interface State {
  readonly of: unknown;
  readonly broken: boolean;
}

/** Catches errors that its children throw while they render. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { of: this.props.of, broken: false };

  static getDerivedStateFromError(): Partial<State> {
    return { broken: true };
  }

  static getDerivedStateFromProps(props: Props, state: State): State | null {
    return state.of === props.of ? null : { of: props.of, broken: false };
  }

  override render() {
    if (!this.state.broken) return this.props.children;
    return this.props.fallback ?? (
      <div className="rounded-lg border border-line p-2">
        <p className="text-sm text-soft">This cannot be drawn. As JSON it is:</p>
        <pre className="max-h-80 overflow-auto font-mono text-xs whitespace-pre-wrap">{JSON.stringify(this.props.of, null, 2)}</pre>
      </div>
    );
  }
}
