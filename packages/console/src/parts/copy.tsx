/** A button that copies a text and confirms it. */
import { useEffect, useState } from 'preact/hooks';

type Came = 'copied' | 'failed' | undefined;

/** @param what a description of the text for people: "the address" */
export function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const [came, setCame] = useState<Came>();
  useEffect(() => {
    if (came === undefined) return undefined;
    const timer = setTimeout(() => setCame(undefined), 2500);
    return () => clearTimeout(timer);
  }, [came]);
  const copy = () =>
    copyText(text).then(
      () => setCame('copied'),
      () => setCame('failed'),
    );
  return (
    <span class="copy">
      <button type="button" class="quiet" onClick={() => void copy()}>
        Copy<span class="visually-hidden"> {what}</span>
      </button>
      <output class="hint">
        {came === 'copied' ? 'Copied' : came === 'failed' ? 'Select the text to copy it' : ''}
      </output>
    </span>
  );
}

/** The clipboard is available only over TLS or on this machine; elsewhere, the text is selected and copied. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  const before = document.activeElement;
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  if (!isCopied) throw new Error('The browser refused to copy.');
}
