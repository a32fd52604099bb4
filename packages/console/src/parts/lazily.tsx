/** A page, or a part of one, whose script is loaded on demand. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { doubt, isAway, returns } from '../app/connection.ts';
import { Loading, Problem } from './states.tsx';

export function lazily<P extends object = Record<never, never>>(
  load: () => Promise<ComponentType<P>>,
): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function Lazy(props: P) {
    const [Page, setPage] = useState<ComponentType<P> | undefined>(() => loaded);
    const [hasFailed, setFailed] = useState(false);
    const returned = returns.value;
    useEffect(() => {
      if (loaded !== undefined) return;
      load().then(
        (page) => {
          loaded = page;
          setPage(() => page);
          setFailed(false);
        },
        () => {
          // After the first failure, checks whether the service is away; if it is not, it has probably been updated.
          if (!hasFailed) doubt();
          setFailed(true);
        },
      );
    }, [returned]);
    if (Page !== undefined) return <Page {...props} />;
    if (!hasFailed || isAway.value) return <Loading what="the page" />;
    const text = 'This part of the console could not be loaded. The service may have been updated.';
    return <Problem error={new Error(text)} again={() => location.reload()} />;
  };
}
