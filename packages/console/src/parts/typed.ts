/** A text that a person types. It is copied to the address of the page when the person pauses. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { change, query } from '../app/route.ts';

/** Milliseconds. Browsers refuse to change the address with every key. */
const PAUSE = 250;

/** @returns the current text, and a function that sets it */
export function useTyped(name: string): readonly [string, (text: string) => void] {
  const inAddress = query.value.get(name) ?? '';
  const [text, setText] = useState(inAddress);
  const written = useRef(inAddress);
  // Applies changes of the address: back, forward, and links within the page.
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
