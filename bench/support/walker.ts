/** A client that walks a collection by nextLink, repeatedly, until it is stopped. */
import { makeClient, nextLinkOf } from './client.ts';

const [, , start = '', token = ''] = process.argv;
process.on('SIGTERM', () => process.exit(0));
const client = makeClient();
for (let address = start; ; ) {
  const answer = await client.get(address, { token });
  if (address === start) console.log('walking');
  address = nextLinkOf(answer) ?? start;
}
