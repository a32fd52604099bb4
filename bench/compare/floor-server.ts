/**
 * The floors of the comparison: the time that Node.js needs to send such responses from memory. `/page` concatenates the records of
 * a page and sends them, `/gzip` compresses the page each time (level 1), `/key` sends one record. Its argument is a file that
 * contains the page.
 */
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { gzip } from 'node:zlib';

const [, , file = ''] = process.argv;
const page = readFileSync(file);
const { value }: { value: unknown[] } = JSON.parse(page.toString());
const records = value.map((record) => Buffer.from(`${JSON.stringify(record)},`));

const send = (response: ServerResponse, body: Buffer, headers: Record<string, string> = {}): void => {
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': body.length,
    ...headers,
  });
  response.end(body);
};

const server = createServer((request, response) => {
  switch (request.url) {
    case '/page':
      return send(response, Buffer.concat(records));
    case '/gzip':
      return gzip(page, { level: 1 }, (_error, body) => send(response, body, { 'content-encoding': 'gzip' }));
    case '/key':
      return send(response, records[0] ?? page);
    default:
      response.writeHead(404).end();
  }
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') console.log(`http://127.0.0.1:${address?.port}/`);
});
process.on('SIGTERM', () => process.exit(0));
