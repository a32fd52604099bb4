/**
 * Reads the body of several records. If its statement left placeholders for agents and offices, it also queries which
 * of these have changed, inserts the cached ones, and reads the others. It knows no engine.
 */
import type { PlannedStatement } from '../../compile/page-plan.ts';
import type { LinkedTexts } from '../../compile/text/linked-texts.ts';
import { NO_TEXT } from '../../shared/byte-texts.ts';
import type { Row } from '../session.ts';
import { LinkedBody, textWithoutRecord } from './linked-body.ts';
import type { SnapshotFragments } from './linked-fragments.ts';
import { type BodyContext, checkBody, FillBuffer, fillBody } from './made-body.ts';
import {
  type FragmentOf,
  NO_RESULT,
  requestStatement,
  type StatementRequest,
  type StatementResult,
  type Steps,
} from './read-steps.ts';

/** The records and the query that fill the placeholders of a body. */
interface Linking {
  readonly linked: LinkedTexts;
  /** Returns the changes since the slot `position`. */
  readonly changes: PlannedStatement;
}

/** A body as it was read, possibly with placeholders, and as it will be sent; `body` is absent if there is none. */
interface Read {
  readonly given: StatementResult;
  readonly marked?: LinkedBody;
}

/** @throws whatever the check of the body throws */
export function* readBody(
  request: StatementRequest,
  linking: Linking | undefined,
  context: BodyContext,
): Steps<Read> {
  if (linking === undefined) {
    const { commas, ...given } = yield* requestStatement(request);
    return { given: checkBody(given, context, commas && (() => commas)) };
  }
  const { linked, changes } = linking;
  const { position } = context.fragments;
  let seen: SnapshotFragments | undefined;
  const receiveChanges = (rows: readonly Row[]): SnapshotFragments =>
    (seen ??= context.fragments.forSnapshot(linked, position, rows));
  const without = linked.links.map(textWithoutRecord);
  const fragmentOf: FragmentOf = (link, bytes, start = 0, end = 0) => {
    if (bytes === undefined) return without[link];
    const found = seen?.find(link, bytes, start, end) ?? NO_TEXT;
    return found === NO_TEXT ? undefined : seen?.texts[link]?.textAt(found);
  };
  const count = linked.links.length;
  // Blocks need to know which linked records their texts contain, so all of their placeholders stay.
  const links = request.gives === 'records' ? { count } : { count, fragmentOf };
  const [changed = NO_RESULT, { commas, ...given } = NO_RESULT] = yield [
    { gives: 'rows', statement: changes, slots: { position }, isKept: true, heard: receiveChanges },
    { ...request, links },
  ];
  const { body, rows } = given;
  if (body === undefined) return { given };
  const room = new FillBuffer(body, context);
  const marked = new LinkedBody(body, linked, receiveChanges([...changed.rows]), commas, room.take);
  if (request.gives === 'records') marked.readKeys();
  if (marked.isFilled) return { given: checkBody(given, context, () => commas ?? []), marked };
  const { lacking } = marked;
  if (lacking.length > 0) {
    const slots = { links: JSON.stringify(lacking) };
    const found = yield* requestStatement({
      gives: 'rows',
      statement: linked.fragments,
      slots,
      isKept: true,
    });
    marked.addFragments([...found.rows]);
  }
  const filled = { rows, ...fillBody(given, marked, context, room) };
  return { given: checkBody(filled, context, (page) => marked.commasIn(page)), marked };
}
