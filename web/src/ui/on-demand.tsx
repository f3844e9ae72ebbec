// Parts of a page that load separately.
import { Component, type ComponentType, type FunctionComponent, lazy, type ReactNode, Suspense } from "react";
import { Dialog } from "./dialog";
import { Failed } from "./placeholder";

interface Options<P> {
  /** What is drawn while it loads. */
  readonly loading?: ReactNode;
  /** Where the error is drawn, with its button to try again; by default in the place of the part. */
  readonly failed?: (error: ReactNode, props: P) => ReactNode;
}

/**
 * A component whose code loads when it is first drawn. If that fails, or if it throws, only its
 * own place shows the error and a button to try again. The next one that is drawn tries again too.
 */
export function onDemand<P extends object>(load: () => Promise<ComponentType<P>>, { loading, failed = (error) => error }: Options<P> = {}): FunctionComponent<P> {
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
    return <Place renew={renew} draw={draw} failed={(error) => failed(error, props)} />;
  };
}

/** A dialog whose code loads when it first opens; a dialog shows the error if that fails. */
export function dialogOnDemand<P extends { readonly onClose: () => void }>(load: () => Promise<ComponentType<P>>): FunctionComponent<P> {
  return onDemand(load, {
    failed: (error, { onClose }) => (
      <Dialog open onClose={onClose} title="This could not be opened">
        {error}
      </Dialog>
    ),
  });
}

interface PlaceProps {
  readonly renew: () => void;
  readonly draw: () => ReactNode;
  readonly failed: (error: ReactNode) => ReactNode;
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
    return this.props.failed(<Failed error={thrown.error} retry={() => this.setState({ thrown: undefined })} />);
  }
}
