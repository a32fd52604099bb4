/** Reads errors from the envelopes of both interfaces. */
import assert from 'node:assert/strict';
import type { Answer } from '../../support/service.ts';
import type { Json } from '../../support/world.ts';

/** Status, code and message of an OData error, whose body must have no other top-level member. */
export function resoFault(answer: Answer): [number, unknown, unknown] {
  assert.deepEqual(Object.keys(answer.json), ['error'], answer.text);
  const { code, message } = objectIn(answer.json.error);
  return [answer.status, code, message];
}

/** Status, code and message of an error in the native envelope. */
export function nativeFault(answer: Answer): [number, unknown, unknown] {
  const { Success, Code, Message } = envelopeOf(answer);
  assert.equal(Success, false, answer.text);
  return [answer.status, Code, Message];
}

/** The same for the members of both envelopes in one body: the response to a request whose path is not known. */
export function bothFaults({ json: { error, D, ...rest }, ...answer }: Answer): unknown[] {
  assert.deepEqual(rest, {}, answer.text);
  const [status, code, message] = resoFault({ ...answer, json: { error } });
  const [, native, same] = nativeFault({ ...answer, json: { D } });
  assert.equal(same, message);
  return [status, native, code, message];
}

/** The content of `D`, which must be the only top-level member. */
export function envelopeOf(answer: Answer): Json {
  assert.deepEqual(Object.keys(answer.json), ['D'], answer.text);
  return objectIn(answer.json.D);
}

export function objectIn(value: unknown): Json {
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value), JSON.stringify(value));
  return Object.fromEntries(Object.entries(value));
}
