/** A text that a person types, and that stands in the address of the page as soon as the person pauses. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { change, query } from '../app/route.ts';

/** Milliseconds; browsers refuse addresses that change with each key. */
const PAUSE = 250;

/** @returns the text as it is typed, and what sets it */
export function useTyped(name: string): readonly [string, (text: string) => void] {
  const inAddress = query.value.get(name) ?? '';
  const [text, setText] = useState(inAddress);
  const written = useRef(inAddress);
  // Back and forward, and links within the page.
  useEffect(() => {
    if (inAddress === written.current) return;
    written.current = inAddress;
    setText(inAddress);
  }, [inAddress]);
  useEffect(() => {
    if (text === written.current) return undefined;
    const timer = setTimeout(() => {
      written.current = text;
      change({ [name]: text }, true);
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [text, name]);
  return [text, setText];
}
