/** Memory of the service while four clients walk all listings at once, again and again: it stops growing after the first rounds. */
import { type Asking, makeClient, nextLinkOf } from './support/client.ts';
import type { MarketStore } from './support/market-store.ts';
import { type Measurement, megabytes } from './support/measure.ts';
import { PAGE } from './support/reads.ts';
import { startService } from './support/service.ts';
import type { Subject } from './support/subject.ts';

const CLIENTS = 4;
const ROUNDS = 5;

export const serviceMemory: Subject = {
  title: 'service, memory, a page of 4 walks at once',
  floors: [],
  async run(context) {
    return [
      await walkAtOnce(context, 'full records, private', false),
      await walkAtOnce(context, 'full records, private, gzip', true),
    ];
  },
};

/** @param gzip the clients follow the links of an uncompressed walk */
async function walkAtOnce(context: MarketStore, name: string, gzip: boolean): Promise<Measurement> {
  const { process, reso, tokens } = await startService(context);
  const client = makeClient();
  const asking = { token: tokens.private };
  const first = `${reso}Property?$count=true&$top=${PAGE}`;
  const links = gzip ? await linksFrom(`${first}&$select=ListingKey`, asking) : undefined;
  const before = await process.used();
  const server = context.engine.used();
  const start = performance.now();
  let pages = 0;
  const walk = async (): Promise<void> => {
    let address: string | undefined = first;
    for (let page = 0; address !== undefined; page++) {
      const answer = await client.get(address, { ...asking, encoding: gzip ? 'gzip' : undefined });
      pages++;
      address = links === undefined ? nextLinkOf(answer) : links[page];
    }
  };
  const after: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all(Array.from({ length: CLIENTS }, walk));
    after.push(megabytes((await process.used()).memory));
  }
  const wall = performance.now() - start;
  const { cpu } = await process.used();
  const ofServer = context.engine.used() - server;
  client.close();
  const { peak } = await process.stop();
  const rounds = `memory ${megabytes(before.memory)} before, after each round ${after.join(', ')}`;
  const gave = `${pages} pages, ${rounds}, ${megabytes(peak)} at the most`;
  return { name, wall: wall / pages, cpu: (cpu - before.cpu) / pages, server: ofServer / pages, gave };
}

/** The addresses of the pages after the first, for complete records. */
async function linksFrom(start: string, asking: Asking): Promise<string[]> {
  const client = makeClient();
  const links: string[] = [];
  for (let address: string | undefined = start; address !== undefined; ) {
    address = nextLinkOf(await client.get(address, asking));
    if (address !== undefined) links.push(address.replace('&$select=ListingKey', ''));
  }
  client.close();
  return links;
}
