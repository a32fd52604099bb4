/** A table of the fields of one resource, with the values of a field's lookup below it. */
import { change, link, query } from '../../app/route.ts';
import { classWords } from '../../parts/class-words.ts';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { searchWords } from '../../parts/words.ts';
import { type FieldEntry, hasValue } from './entries.ts';
import { Values } from './values.tsx';

export function FieldTable({
  resource,
  fields,
  search,
  viewer,
}: {
  readonly resource: string;
  readonly fields: readonly FieldEntry[];
  readonly search: string;
  readonly viewer: string;
}) {
  return (
    <ScrollBox label={`Fields of ${resource}`}>
      <table class="dictionary-fields">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Type</th>
            <th scope="col">Values</th>
            <th scope="col">Class</th>
            <th scope="col">In use since</th>
            <th scope="col">Records</th>
          </tr>
        </thead>
        <tbody>
          {fields.map((field) => (
            <Row key={field.name} field={field} search={search} viewer={viewer} />
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

interface OfField {
  readonly field: FieldEntry;
  readonly viewer: string;
}

function Row({ field, search, viewer }: OfField & { readonly search: string }) {
  const name = `${field.resource}.${field.name}`;
  const isOpen = query.value.get('field') === name;
  const id = `values-${field.resource}-${field.name}`;
  return (
    <>
      <tr id={name}>
        <th scope="row">
          <Marked text={field.name} search={search} />
          <span class="hint">
            <Marked text={field.localName ?? field.words} search={search} />
          </span>
          {field.localName === undefined ? null : <span class="badge good">Custom</span>}{' '}
          {field.isJoined ? (
            <span
              class="badge"
              title="The value is stored with the agent or office, and its current state is returned"
            >
              From another record
            </span>
          ) : null}
        </th>
        <td>{field.type}</td>
        <td>
          {field.lookup === undefined ? (
            <span class="hint">Any</span>
          ) : (
            <button
              type="button"
              class="quiet"
              aria-expanded={isOpen}
              aria-controls={isOpen ? id : undefined}
              onClick={() => change({ field: isOpen ? undefined : name }, true)}
            >
              {field.lookup}
              <span class="visually-hidden"> values of {field.name}</span>
            </button>
          )}
        </td>
        <td>
          <span title={field.class === undefined ? undefined : classWords(field.class)}>{field.class}</span>
        </td>
        <td>
          {field.since === undefined ? '' : <time dateTime={field.since}>{field.since.slice(0, 10)}</time>}
        </td>
        <td>
          <a href={link(['explore'], { as: viewer, resource: field.resource, filter: hasValue(field) })}>
            Explore<span class="visually-hidden"> records with {field.name}</span>
          </a>
        </td>
      </tr>
      {isOpen && field.lookup !== undefined ? (
        <tr>
          <td colSpan={6} id={id}>
            <Values key={viewer} field={field} lookup={field.lookup} viewer={viewer} />
          </td>
        </tr>
      ) : null}
    </>
  );
}

/** A text in which the search words are highlighted. */
function Marked({ text, search }: { readonly text: string; readonly search: string }) {
  const words = searchWords(search);
  const lower = text.toLowerCase();
  const isMarked = Array.from(text, () => false);
  for (const word of words)
    for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + 1))
      isMarked.fill(true, at, at + word.length);
  const pieces: { text: string; marked: boolean }[] = [];
  for (const [at, marked] of isMarked.entries()) {
    const last = pieces.at(-1);
    if (last?.marked === marked) last.text += text.charAt(at);
    else pieces.push({ text: text.charAt(at), marked });
  }
  return <>{pieces.map((piece, at) => (piece.marked ? <mark key={at}>{piece.text}</mark> : piece.text))}</>;
}
