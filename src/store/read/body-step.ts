/**
 * Reads the body of several records. If its statement left placeholders for agents and offices, it also queries which
 * of these have changed, inserts the cached ones, and reads the others. It knows no engine.
 */
import type { PlannedStatement } from '../../compile/page-plan.ts';
import type { LinkedTexts } from '../../compile/text/linked-texts.ts';
import { NO_TEXT } from '../../shared/byte-texts.ts';
import type { Row } from '../session.ts';
import { LinkedBody, withoutOf } from './linked-body.ts';
import type { SeenFragments } from './linked-fragments.ts';
import { type BodyMaking, checkedBody, filledBody, Room } from './made-body.ts';
import { type Ask, ask, type FragmentOf, type Given, NOTHING, type Steps } from './read-steps.ts';

/** What the placeholders of a body stand for. */
interface Linking {
  readonly linked: LinkedTexts;
  /** Returns the changes since the slot `position`. */
  readonly changes: PlannedStatement;
}

/** A body as it will be sent, and as it was read, possibly with placeholders; absent if it can have none. */
interface Read {
  readonly given: Given;
  readonly marked?: LinkedBody;
}

/** @throws whatever the check of the body throws */
export function* readBody(asked: Ask, linking: Linking | undefined, making: BodyMaking): Steps<Read> {
  if (linking === undefined) {
    const { commas, ...given } = yield* ask(asked);
    return { given: checkedBody(given, making, commas && (() => commas)) };
  }
  const { linked, changes } = linking;
  const { position } = making.fragments;
  let seen: SeenFragments | undefined;
  const heard = (rows: readonly Row[]): SeenFragments =>
    (seen ??= making.fragments.seenBy(linked, position, rows));
  const without = linked.links.map(withoutOf);
  const fragmentOf: FragmentOf = (link, bytes, start = 0, end = 0) => {
    if (bytes === undefined) return without[link];
    const found = seen?.find(link, bytes, start, end) ?? NO_TEXT;
    return found === NO_TEXT ? undefined : seen?.texts[link]?.textAt(found);
  };
  const count = linked.links.length;
  // Blocks need to know which records their texts contain, so all of their placeholders stay.
  const links = asked.gives === 'records' ? { count } : { count, fragmentOf };
  const [changed = NOTHING, { commas, ...given } = NOTHING] = yield [
    { gives: 'rows', statement: changes, slots: { position }, isKept: true, heard },
    { ...asked, links },
  ];
  const { body, rows } = given;
  if (body === undefined) return { given };
  const room = new Room(body, making);
  const marked = new LinkedBody(body, linked, heard([...changed.rows]), commas, room.take);
  if (asked.gives === 'records') marked.readKeys();
  if (marked.isFilled) return { given: checkedBody(given, making, () => commas ?? []), marked };
  const { lacking } = marked;
  if (lacking.length > 0) {
    const slots = { links: JSON.stringify(lacking) };
    const found = yield* ask({ gives: 'rows', statement: linked.fragments, slots, isKept: true });
    marked.supply([...found.rows]);
  }
  const filled = { rows, ...filledBody(given, marked, making, room) };
  return { given: checkedBody(filled, making, (page) => marked.commasIn(page)), marked };
}
