/**
 * Reads the body of several records. Where its statement has marked the places of agents and offices, it asks beside the body
 * what has changed of them, puts in those that are kept and reads those that are not. It knows no engine.
 */
import type { PlannedStatement } from '../compile/page-plan.ts';
import type { LinkedTexts } from '../compile/text/linked-texts.ts';
import { LinkedBody } from './linked-body.ts';
import { type BodyMaking, checkedBody, filledBody } from './made-body.ts';
import { type Ask, ask, type Given, NOTHING, type Steps } from './read-steps.ts';

/** What the marks of a body stand for. */
interface Linking {
  readonly linked: LinkedTexts;
  /** Gives what has changed since the slot `position`. */
  readonly changes: PlannedStatement;
}

/** A body as it is to be sent, and as it was marked; absent: nothing was put in. */
interface Read {
  readonly given: Given;
  readonly marked?: LinkedBody;
}

/** @throws as the check of the body does */
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
