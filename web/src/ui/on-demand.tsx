// Parts of a page that load separately.
import { Component, type ComponentType, type FunctionComponent, lazy, type ReactNode, Suspense } from "react";
import { Failed } from "./placeholder";

interface Options {
  /** What is drawn while it loads. */
  readonly loading?: ReactNode;
  /** Draws nothing instead of the error: the page is complete without the part. */
  readonly quiet?: boolean;
}

/**
 * A component whose code loads when it is first drawn. If that fails, or if it throws, only its
 * own place shows the error and a button to try again. The next one that is drawn tries again too.
 */
export function onDemand<P extends object>(load: () => Promise<ComponentType<P>>, { loading, quiet = false }: Options = {}): FunctionComponent<P> {
  const begin = () => lazy(() => load().then((loaded) => ({ default: loaded })));
  let Part: ComponentType<P> = begin();
  // A lazy component keeps its failure for ever.
  const renew = () => (Part = begin());
  return function OnDemand(props: P) {
    const draw = () => (
      <Suspense fallback={loading}>
        <Part {...props} />
      </Suspense>
    );
    return <Place quiet={quiet} renew={renew} draw={draw} />;
  };
}

interface PlaceProps {
  readonly quiet: boolean;
  readonly renew: () => void;
  readonly draw: () => ReactNode;
}

class Place extends Component<PlaceProps, { readonly thrown?: { readonly error: unknown } }> {
  override state: { readonly thrown?: { readonly error: unknown } } = {};

  static getDerivedStateFromError(error: unknown) {
    return { thrown: { error } };
  }

  override componentDidCatch() {
    this.props.renew();
  }

  override render() {
    const { thrown } = this.state;
    if (thrown === undefined) return this.props.draw();
    return this.props.quiet ? null : <Failed error={thrown.error} retry={() => this.setState({ thrown: undefined })} />;
  }
}
