/** What a page requests again from time to time, while a person looks at it. */
import { useEffect, useRef } from 'preact/hooks';

export function useEvery(seconds: number, work: () => void): void {
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) latest.current();
    }, seconds * 1000);
    return () => clearInterval(timer);
  }, [seconds]);
}
