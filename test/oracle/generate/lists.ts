/** Random lambdas and counts. */
import { type Member, membersAt } from '../evaluate.ts';
import type { Over, Term } from '../term.ts';
import { makeCondition } from './conditions.ts';
import { type Context, chooseWay, type Open, toMany } from './context.ts';

/** The maximum nesting of lambdas. */
const DEEPEST = 3;
const VARIABLES = ['m', 'x', 'each', 'City', 'Order', 'a1'] as const;

/** A collection of a record in scope. */
export function chooseOver(context: Context, kind?: Over['kind']): Over | undefined {
  const { random, catalogue } = context;
  for (let attempt = 0; attempt < 4; attempt++) {
    const way = chooseWay(context, 0.85);
    if (way === undefined) return undefined;
    const wanted = kind ?? (random.chance(0.45) ? 'values' : 'records');
    const { scope, via, resource } = way;
    if (wanted === 'values') {
      const field = random.among(catalogue.lists(resource));
      if (field !== undefined) return { kind: 'values', scope, via, field };
    } else {
      const navigation = random.among(toMany(resource));
      if (navigation !== undefined) return { kind: 'records', scope, via, navigation };
    }
  }
  return undefined;
}

/** A member of the collection in the sample record. */
function sampleOf(context: Context, over: Over): Member | undefined {
  const scopes: Member[] = [];
  for (const { sample } of context.open) {
    if (sample === undefined) return undefined;
    scopes.push(sample);
  }
  return context.random.among(membersAt({ ...context, scopes }, over));
}

function opened(context: Context, over: Over): Open {
  const sample = sampleOf(context, over);
  if (over.kind === 'values') {
    return { kind: 'value', field: over.field, sample: typeof sample === 'string' ? sample : undefined };
  }
  const resource = context.world.dictionary.resources.get(over.navigation.target);
  if (resource === undefined) throw new Error(`no resource ${over.navigation.target}`);
  return { kind: 'record', resource, sample: typeof sample === 'string' ? undefined : sample };
}

function filterOver(context: Context, over: Over, depth: number): Term {
  const inner = context.open.length;
  const open = [...context.open, opened(context, over)];
  return makeCondition({ ...context, open, self: inner }, depth);
}

export function makeLambda(context: Context, depth: number): Term | undefined {
  const { random, open, named } = context;
  if (open.length > DEEPEST) return undefined;
  const over = chooseOver(context);
  if (over === undefined) return undefined;
  const inner = open.length;
  const kind = random.chance(0.7) ? 'any' : 'all';
  const filter = kind === 'any' && random.chance(0.2) ? filterOver(context, over, depth - 1) : undefined;
  const variable = `${random.pick(VARIABLES)}${inner > 1 ? inner : ''}`;
  if (kind === 'any' && random.chance(0.1)) return { kind, over, inner, variable, filter };
  const within: Context = {
    ...context,
    open: [...open, opened(context, over)],
    named: new Set(named).add(inner),
  };
  return { kind, over, inner, variable, filter, predicate: makeCondition(within, depth - 1) };
}

export function makeCount(context: Context, depth: number): Term | undefined {
  const { random, open } = context;
  if (open.length > DEEPEST) return undefined;
  const over = chooseOver(context);
  if (over === undefined) return undefined;
  const filter = random.chance(0.5) ? filterOver(context, over, depth - 1) : undefined;
  return { kind: 'count', over, inner: open.length, before: random.chance(0.5), filter };
}
