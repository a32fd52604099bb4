/**
 * Reads the body of several records. If its statement left placeholders for agents and offices, it also queries which
 * of these have changed, inserts the cached ones, and reads the others. It knows no engine.
 */
import type { PlannedStatement } from '../compile/page-plan.ts';
import type { LinkedTexts } from '../compile/text/linked-texts.ts';
import { LinkedBody } from './linked-body.ts';
import { type BodyMaking, checkedBody, filledBody } from './made-body.ts';
import { type Ask, ask, type Given, NOTHING, type Steps } from './read-steps.ts';

/** What the placeholders of a body stand for. */
interface Linking {
  readonly linked: LinkedTexts;
  /** Returns the changes since the slot `position`. */
  readonly changes: PlannedStatement;
}

/** A body as it will be sent, and as it was read with placeholders; absent if nothing was inserted. */
interface Read {
  readonly given: Given;
  readonly marked?: LinkedBody;
}

/** @throws whatever the check of the body throws */
export function* readBody(asked: Ask, linking: Linking | undefined, making: BodyMaking): Steps<Read> {
  if (linking === undefined) return { given: checkedBody(yield* ask(asked), making) };
  const { linked, changes } = linking;
  const { position } = making.fragments;
  const [given = NOTHING, changed = NOTHING] = yield [
    asked,
    { gives: 'rows', statement: changes, slots: { position }, isKept: true },
  ];
  const { body, rows } = given;
  if (body === undefined) return { given };
  const marked = new LinkedBody(body, linked, making.fragments.seenBy(linked, position, [...changed.rows]));
  const { lacking } = marked;
  if (lacking.length > 0) {
    const slots = { links: JSON.stringify(lacking) };
    const found = yield* ask({ gives: 'rows', statement: linked.fragments, slots, isKept: true });
    marked.supply([...found.rows]);
  }
  const filled = { rows, ...filledBody(given, marked, making) };
  return { given: checkedBody(filled, making, (page) => marked.commasIn(page)), marked };
}
