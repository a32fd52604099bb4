/** A page whose script is loaded when it is first opened. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Loading, Problem } from './states.tsx';

export function lazily(load: () => Promise<ComponentType>): ComponentType {
  let loaded: ComponentType | undefined;
  return function Lazy() {
    const [Page, setPage] = useState<ComponentType | undefined>(() => loaded);
    const [problem, setProblem] = useState<unknown>();
    const begin = () => {
      setProblem(undefined);
      if (loaded !== undefined) return;
      load().then((page) => {
        loaded = page;
        setPage(() => page);
      }, setProblem);
    };
    useEffect(begin, []);
    if (problem !== undefined) return <Problem error={problem} again={begin} />;
    return Page === undefined ? <Loading what="the page" /> : <Page />;
  };
}
