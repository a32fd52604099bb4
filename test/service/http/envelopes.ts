/** Errors as both envelopes have them. */
import assert from 'node:assert/strict';
import type { Answer } from '../../support/service.ts';
import type { Json } from '../../support/world.ts';

/** Status, code and message of an error in the envelope of OData, which holds nothing else. */
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

/** What stands in `D`, which is all that there is. */
export function envelopeOf(answer: Answer): Json {
  assert.deepEqual(Object.keys(answer.json), ['D'], answer.text);
  return objectIn(answer.json.D);
}

export function objectIn(value: unknown): Json {
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value), JSON.stringify(value));
  return Object.fromEntries(Object.entries(value));
}
