/** Simplifies queries that fail. */
import type { Condition, Joined } from './native-term.ts';
import { freeScopes } from './odata-text.ts';
import { partsOf, type Term, typeOf } from './term.ts';

const isCondition = (term: Term): boolean => typeOf(term) === 'boolean' && term.kind !== 'literal';

/** The conditions inside a condition, and the condition with parts removed. */
export function* smallerTerms(term: Term): Generator<Term> {
  for (const part of partsOf(term)) {
    if (isCondition(part) && [...freeScopes(part)].every((scope) => scope === 0)) yield part;
  }
  switch (term.kind) {
    case 'and':
    case 'or':
      for (const [index, part] of term.terms.entries()) {
        if (term.terms.length > 2) yield { ...term, terms: term.terms.toSpliced(index, 1) };
        for (const less of smallerTerms(part)) yield { ...term, terms: term.terms.with(index, less) };
      }
      return;
    case 'not':
      for (const operand of smallerTerms(term.operand)) yield { ...term, operand };
      return;
    case 'in':
      for (const index of term.items.keys()) {
        if (term.items.length > 1) yield { ...term, items: term.items.toSpliced(index, 1) };
      }
      return;
    case 'any':
    case 'all': {
      const { predicate } = term;
      if (term.filter !== undefined) yield { ...term, filter: undefined };
      if (predicate === undefined) return;
      const inner = freeScopes(term);
      for (const part of partsOf(predicate)) {
        const reaches = [...freeScopes(part)].every((scope) => scope === term.inner || inner.has(scope));
        if (isCondition(part) && reaches) yield { ...term, predicate: part };
      }
      for (const less of smallerTerms(predicate)) yield { ...term, predicate: less };
      return;
    }
    case 'matches':
      if (term.operand.kind !== 'field') return;
      for (let length = term.pattern.length - 1; length > 0; length -= 4) {
        yield { ...term, pattern: term.pattern.slice(0, length) };
      }
      return;
    default:
      return;
  }
}

/** The parts of a native filter, and the filter with parts removed. */
export function* smallerFilters(filter: Joined): Generator<Joined> {
  const alone = (part: Condition | Joined): Joined =>
    part.kind === 'joined' ? part : { kind: 'joined', negated: false, first: part, rest: [] };
  if (filter.rest.length > 0) {
    yield alone(filter.first);
    for (const { part } of filter.rest) yield alone(part);
    for (const index of filter.rest.keys()) yield { ...filter, rest: filter.rest.toSpliced(index, 1) };
  }
  if (filter.negated) yield { ...filter, negated: false };
  if (filter.first.kind === 'joined') {
    yield filter.first;
    for (const first of smallerFilters(filter.first)) yield { ...filter, first };
  } else if (filter.first.kind === 'comparison' && filter.first.right.length > 1) {
    const { right } = filter.first;
    for (const index of right.keys()) {
      yield { ...filter, first: { ...filter.first, right: right.toSpliced(index, 1) } };
    }
  }
  for (const [index, entry] of filter.rest.entries()) {
    if (entry.part.kind !== 'joined') continue;
    for (const part of smallerFilters(entry.part)) {
      yield { ...filter, rest: filter.rest.with(index, { ...entry, part }) };
    }
  }
}
