/** Repeats a request from time to time while the page is visible. */
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
