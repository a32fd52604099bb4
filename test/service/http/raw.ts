/** Sends raw bytes, for requests that no HTTP client would send. */
import { connect, type Socket } from 'node:net';
import type { Answer } from '../../support/service.ts';
import { objectOf } from '../../support/world.ts';

export function open(address: string): Socket {
  const { hostname, port } = new URL(address);
  return connect({ host: hostname, port: Number(port) });
}

/** Sends bytes and returns everything that is received until the other side closes. */
export function sendRaw(address: string, text: string): Promise<string> {
  const socket = open(address);
  const parts: Buffer[] = [];
  return new Promise((resolve, reject) => {
    socket.on('data', (part: Buffer) => parts.push(part));
    socket.on('error', (error) => (parts.length > 0 ? undefined : reject(error)));
    socket.on('close', () => resolve(Buffer.concat(parts).toString()));
    socket.write(text);
  });
}

export interface RawAnswer extends Answer {
  /** The reason phrase. */
  readonly reason: string;
}

/** Parses the first response in the received bytes. */
export function readAnswer(wire: string): RawAnswer {
  const end = wire.indexOf('\r\n\r\n');
  const [line = '', ...lines] = wire.slice(0, end).split('\r\n');
  const [, status = '', reason = ''] = /^HTTP\/1\.1 (\d{3}) (.*)$/.exec(line) ?? [];
  const headers = Object.fromEntries(
    lines.map((each) => {
      const colon = each.indexOf(':');
      return [each.slice(0, colon).toLowerCase(), each.slice(colon + 1).trim()];
    }),
  );
  const text = wire.slice(end + 4, end + 4 + Number(headers['content-length'] ?? 0));
  return { status: Number(status), reason, headers, bytes: Buffer.from(text), text, json: objectOf(text) };
}
