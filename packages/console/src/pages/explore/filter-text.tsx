/**
 * The filter as text, with suggestions during typing and a mark at the error that the service has reported. A copy of the text
 * behind the editor shows the mark and gives the editor its height.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { complete, type Suggestion } from './completion.ts';
import { markedIn } from './conditions.ts';
import type { FieldInfo, ResourceInfo, Schema } from './schema.ts';
import type { View } from './view.ts';

interface TextProps {
  readonly view: View;
  readonly schema: Schema;
  readonly resource: ResourceInfo;
  readonly values: (field: FieldInfo) => readonly string[] | undefined;
  readonly problem: string | undefined;
  readonly onApply: (filter: string) => void;
}

export function FilterText({ view, schema, resource, values, problem, onApply }: TextProps) {
  const editor = useRef<HTMLTextAreaElement>(null);
  const [draft, setDraft] = useState({ of: view.filter, text: view.filter });
  // A draft ends when another filter is applied. An effect that discarded it would run too late and lose what has been typed in the meantime.
  const text = draft.of === view.filter ? draft.text : view.filter;
  const setText = (now: string) => setDraft({ of: view.filter, text: now });
  const [caret, setCaret] = useState(text.length);
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const { from, suggestions } = isOpen
    ? complete(view.interface, text, caret, resource, schema, (field) => values(field))
    : { from: caret, suggestions: [] };
  useEffect(() => {
    if (active >= 0) document.getElementById(`suggestion-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  // An error belongs to the filter that was applied, not to the text that is being typed.
  const fault = text.trim() === view.filter ? problem : undefined;
  const lead = text.length - text.trimStart().length;
  const found = fault === undefined ? undefined : markedIn(view.filter, fault);
  const mark = found && { from: lead + found.from, to: lead + found.to };
  const put = ({ text: added }: Suggestion) => {
    const now = text.slice(0, from) + added + text.slice(caret);
    setText(now);
    setActive(-1);
    moveTo(editor.current, from + added.length, now);
    setCaret(from + added.length);
  };
  const keys = (event: KeyboardEvent) => {
    const last = suggestions.length - 1;
    const chosen = suggestions[active];
    if (event.key === 'ArrowDown' && last >= 0) setActive(active >= last ? 0 : active + 1);
    else if (event.key === 'ArrowUp' && last >= 0 && active >= 0) setActive(active - 1);
    else if (event.key === 'Enter' && chosen !== undefined) put(chosen);
    else if (event.key === 'Enter' && !event.shiftKey) {
      setOpen(false);
      onApply(text.trim());
    } else if (event.key === 'Escape' && isOpen) setOpen(false);
    else if (event.key === ' ' && event.ctrlKey) setOpen(true);
    else return;
    event.preventDefault();
  };
  const follow = () => setCaret(editor.current?.selectionStart ?? text.length);
  return (
    <form
      class="filter-text"
      onSubmit={(event) => {
        event.preventDefault();
        setOpen(false);
        onApply(text.trim());
      }}
    >
      <label for="filter-editor">Filter text</label>
      <div class="editor">
        <div class="mirror" aria-hidden="true">
          <Marked text={text} mark={mark} />{' '}
        </div>
        <textarea
          id="filter-editor"
          ref={editor}
          rows={1}
          spellcheck={false}
          autocapitalize="off"
          value={text}
          aria-autocomplete="list"
          aria-controls="filter-suggestions"
          aria-activedescendant={active < 0 ? undefined : `suggestion-${active}`}
          aria-invalid={fault !== undefined}
          aria-describedby={fault === undefined ? 'filter-help' : 'filter-fault filter-help'}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value.replaceAll('\n', ' '));
            setCaret(currentTarget.selectionStart);
            setActive(-1);
            setOpen(true);
          }}
          onKeyDown={keys}
          onKeyUp={follow}
          onClick={follow}
          onBlur={() => setOpen(false)}
        />
      </div>
      <Suggestions all={suggestions} active={active} put={put} />
      {fault === undefined ? null : (
        <p class="problem" id="filter-fault" role="alert">
          {fault}{' '}
          {mark === undefined ? null : (
            <button type="button" class="quiet" onClick={() => select(editor.current, mark.from, mark.to)}>
              Go there
            </button>
          )}
        </p>
      )}
      <p class="hint" id="filter-help">
        {exampleOf(view.resource)}
        The arrow keys choose a suggestion, Enter applies the filter.
      </p>
      <button type="submit">Apply</button>
    </form>
  );
}

interface MarkedProps {
  readonly text: string;
  readonly mark: { readonly from: number; readonly to: number } | undefined;
}

const Marked = ({ text, mark }: MarkedProps) =>
  mark === undefined ? (
    text
  ) : (
    <>
      {text.slice(0, mark.from)}
      <mark>{text.slice(mark.from, mark.to) || ' '}</mark>
      {text.slice(mark.to)}
    </>
  );

interface SuggestionsProps {
  readonly all: readonly Suggestion[];
  /** The index of the one that Enter chooses; -1: none. */
  readonly active: number;
  readonly put: (chosen: Suggestion) => void;
}

const Suggestions = ({ all, active, put }: SuggestionsProps) => (
  <div
    id="filter-suggestions"
    role="listbox"
    aria-label="Suggestions"
    hidden={all.length === 0}
    // Keeps the focus in the editor.
    onMouseDown={(event) => event.preventDefault()}
  >
    {all.map((each, at) => (
      // biome-ignore lint/a11y: the editor has the focus and its keys choose
      <div
        key={each.text}
        id={`suggestion-${at}`}
        role="option"
        aria-selected={at === active}
        onClick={() => put(each)}
      >
        <code>{each.text.trim()}</code> <span class="soft">{each.note}</span>
      </div>
    ))}
  </div>
);

/** An example of a filter of listings; there is none for other resources. */
function exampleOf(resource: string): string {
  if (resource === 'Property') return "Such as ListPrice ge 300000 and City eq 'Rome'. ";
  return resource === 'listings' ? "Such as ListPrice Ge 300000 And City Eq 'Rome'. " : '';
}

function select(editor: HTMLTextAreaElement | null, from: number, to: number): void {
  editor?.focus();
  editor?.setSelectionRange(from, to);
}

/** Moves the caret in a text that is being set by the same event. */
function moveTo(editor: HTMLTextAreaElement | null, at: number, text: string): void {
  if (editor === null) return;
  editor.value = text;
  editor.setSelectionRange(at, at);
}
