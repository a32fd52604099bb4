import type { PlatError } from '../../errors/index.ts';
import { JSON_TYPE, type Reply } from '../exchange.ts';

/** Whether a path is where the native interface would lie, in this version or another. */
export const isNativePath = (path: string): boolean => /^\/v\d+(?:[/?]|$)/.test(path);

/** An error in the native envelope (reference: native-v1, Envelope). */
export function nativeError(error: PlatError, headers: Readonly<Record<string, string>>): Reply {
  const { native, message, target, details, sparkql } = error;
  const faults = sparkql.map(({ token, message: text, status }) => ({
    Token: token,
    Message: text,
    Status: status,
  }));
  const parameters = [
    ...(target === undefined ? [] : [{ Type: 'Parameter', Attribute: target, Message: message }]),
    ...details.map((detail) => ({ Type: 'Parameter', Attribute: detail.target, Message: detail.message })),
  ];
  const body = {
    D: {
      Success: false,
      Code: native,
      Message: message,
      ...(faults.length > 0 ? { SparkQLErrors: faults } : {}),
      ...(faults.length === 0 && parameters.length > 0 ? { Errors: parameters } : {}),
    },
  };
  return {
    status: error.status,
    headers: { 'content-type': JSON_TYPE, ...headers },
    body: [JSON.stringify(body)],
  };
}
