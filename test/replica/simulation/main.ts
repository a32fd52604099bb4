import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { simulate } from './simulate.ts';

const [from, to] = process.argv.slice(2).map(Number);
for (let seed = from!; seed <= to!; seed++) {
  const s = performance.now();
  const o = await simulate({ seed, engine: sqliteEngine() });
  console.log(
    seed,
    (performance.now() - s).toFixed(0),
    o.requests,
    o.plan.interface,
    o.failure?.slice(0, 1500) ?? 'ok',
  );
  if (process.argv[4]) console.log(o.log.join('\n'));
}
