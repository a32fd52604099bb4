/** `npm run simulate -- --runs N [--seed S] [--engine postgres] [--log]`: plays N histories, from seed S on. */
import { parseArgs } from 'node:util';
import { campaign, describeFailure } from './campaign.ts';
import { type Ground, sqliteGround } from './ground.ts';
import { postgresGround } from './postgres-ground.ts';

/** Milliseconds between two lines of progress. */
const EVERY = 10_000;

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    engine: { type: 'string', default: 'sqlite' },
    log: { type: 'boolean', default: false },
  },
});
const [from, runs] = [values.seed, values.runs].map(Number);
if (from === undefined || runs === undefined || !Number.isInteger(from) || !Number.isInteger(runs)) {
  console.error('--seed and --runs are whole numbers.');
  process.exit(2);
}

const GROUNDS: Readonly<Record<string, () => Ground>> = { sqlite: sqliteGround, postgres: postgresGround };
const ground = GROUNDS[values.engine]?.();
if (ground === undefined) {
  console.error(`--engine is one of ${Object.keys(GROUNDS).join(', ')}.`);
  process.exit(2);
}

let done = 0;
let requests = 0;
let followed = 0;
const begun = Date.now();
const progress = (): void => {
  const seconds = Math.round((Date.now() - begun) / 1000);
  console.error(
    `${done} of ${runs} histories, ${requests} requests, ${followed} level by reported changes alone, ${seconds} s`,
  );
};
const timer = setInterval(progress, EVERY);
const failure = await campaign({
  ground,
  from,
  runs,
  onDone: (_, outcome) => {
    done++;
    requests += outcome.requests;
    if (outcome.isFollowed) followed++;
    if (values.log) console.log(outcome.log.join('\n'));
  },
});
clearInterval(timer);
progress();
if (failure !== undefined) {
  console.error(describeFailure(failure));
  process.exitCode = 1;
}
