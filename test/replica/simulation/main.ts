/** `npm run simulate -- --runs N [--seed S] [--log]`: plays N histories, from seed S on. */
import { parseArgs } from 'node:util';
import { campaign, told } from './campaign.ts';

/** Milliseconds between two lines of progress. */
const EVERY = 10_000;

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    log: { type: 'boolean', default: false },
  },
});
const [from, runs] = [values.seed, values.runs].map(Number);
if (from === undefined || runs === undefined || !Number.isInteger(from) || !Number.isInteger(runs)) {
  console.error('--seed and --runs are whole numbers.');
  process.exit(2);
}

let done = 0;
let requests = 0;
const begun = Date.now();
const progress = (): void => {
  const seconds = Math.round((Date.now() - begun) / 1000);
  console.error(`${done} of ${runs} histories, ${requests} requests, ${seconds} s`);
};
const timer = setInterval(progress, EVERY);
const failure = await campaign({
  from,
  runs,
  onDone: (_, outcome) => {
    done++;
    requests += outcome.requests;
    if (values.log) console.log(outcome.log.join('\n'));
  },
});
clearInterval(timer);
progress();
if (failure !== undefined) {
  console.error(told(failure));
  process.exitCode = 1;
}
