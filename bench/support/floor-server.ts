/** A bare server: `/0`, `/1`, … are the files that its arguments name, kept in memory. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const bodies = process.argv.slice(2).map((file) => readFileSync(file));

const server = createServer((request, response) => {
  const body = bodies[Number(request.url?.slice(1))];
  if (body === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') console.log(`http://127.0.0.1:${address?.port}/`);
});
process.on('SIGTERM', () => process.exit(0));
