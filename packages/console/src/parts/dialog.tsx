/**
 * A modal dialog: the browser keeps the focus in it, closes it with Escape, and returns the focus to the element that opened it. It
 * is visible as long as it is rendered.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

/** @param close removes it from the page, also after Escape */
export function Dialog({
  title,
  close,
  isWide = false,
  children,
}: {
  readonly title: string;
  readonly close: () => void;
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      dialog.current?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} class={isWide ? 'wide' : undefined} aria-labelledby={id} onClose={close}>
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      {children}
    </dialog>
  );
}
