/** Requests for single records by key, one after the other or several at once, as a case of a benchmark. */
import type { Asking, Client } from './client.ts';
import type { Case } from './interleave.ts';
import type { Running } from './process.ts';
import { PAGE } from './reads.ts';
import type { RunningService } from './service.ts';

/** The number of requests of a case in a round. */
const REQUESTS = 400;

export interface Requests {
  readonly name: string;
  readonly by: Running;
  readonly atOnce: number;
  readonly client: Client;
  readonly asking: Asking;
  readonly keys: readonly string[];
  readonly address: (key: string) => string;
  /** Absent: 400. */
  readonly count?: number;
}

export async function someKeys({ reso }: RunningService, client: Client, asking: Asking): Promise<string[]> {
  const body = await client.read(`${reso}Property?$select=ListingKey&$top=${PAGE}`, asking);
  const { value }: { value: { ListingKey: string }[] } = JSON.parse(body.toString());
  return value.map(({ ListingKey }) => ListingKey);
}

export function recordCase(requests: Requests): Case {
  const { name, by, atOnce, client, asking, keys, address, count = REQUESTS } = requests;
  const waits: number[] = [];
  let next = 0;
  let bytes = 0;
  let spent = 0;
  const one = async (): Promise<void> => {
    next = (next + 617) % keys.length;
    const start = performance.now();
    ({ bytes } = await client.get(address(keys[next] ?? ''), asking));
    waits.push(performance.now() - start);
  };
  const some = async (): Promise<void> => {
    for (let asked = 0; asked < count / atOnce; asked++) await one();
  };
  return {
    ...{ name, by },
    async call(round) {
      if (round === 1) {
        waits.length = 0; // the first round is not measured
        spent = 0;
      }
      const start = performance.now();
      await Promise.all(Array.from({ length: atOnce }, some));
      spent += performance.now() - start;
      const sorted = waits.toSorted((left, right) => left - right);
      const at = (part: number): string => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(2);
      const rate = Math.round((waits.length / spent) * 1000).toLocaleString('en');
      const gave = `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${rate}/s, ${(bytes / 1000).toFixed(1)} kB`;
      return { gave, done: count };
    },
  };
}
