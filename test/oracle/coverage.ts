/** Counts the constructs that occur in queries, so that a generator that omits one is noticed. */
import type { Joined, Part } from './native-term.ts';
import { partsOf, type Term, typeOf } from './term.ts';

export class Coverage {
  readonly counts = new Map<string, number>();

  add(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  term(term: Term): void {
    this.add(`kind ${term.kind}`);
    this.add(`type ${typeOf(term)}`);
    switch (term.kind) {
      case 'literal':
        this.add(`literal ${term.type}`);
        break;
      case 'field':
        this.add(`field ${term.type}`);
        this.add(`steps ${term.via.length}`);
        this.add(`scope ${term.scope}`);
        if (term.field.joined !== undefined) this.add('field joined');
        if (term.field.custom !== undefined) this.add('field custom');
        break;
      case 'compare':
        this.add(`compare ${term.operator}`);
        this.add(`compare ${typeOf(term.left)}`);
        break;
      case 'arithmetic':
        this.add(`arithmetic ${term.operator}`);
        this.add(`arithmetic ${typeOf(term.left)} ${term.operator} ${typeOf(term.right)}`);
        break;
      case 'call':
        this.add(`call ${term.name}`);
        break;
      case 'cast':
      case 'isof':
        this.add(`${term.kind} ${term.to}`);
        this.add(`${term.kind} from ${typeOf(term.operand)}`);
        break;
      case 'any':
      case 'all':
      case 'count':
        this.add(`${term.kind} over ${term.over.kind}`);
        if (term.filter !== undefined) this.add(`${term.kind} with filter`);
        break;
      default:
        break;
    }
    for (const part of partsOf(term)) this.term(part);
  }

  filter(filter: Joined, depth = 0): void {
    this.add(`depth ${depth}`);
    if (filter.negated) this.add('negated');
    const part = (one: Part): void => {
      if (one.kind === 'joined') this.filter(one, depth + 1);
      else this.condition(one);
    };
    part(filter.first);
    for (const { word, part: next } of filter.rest) {
      this.add(`word ${word}`);
      part(next);
    }
  }

  condition(condition: Exclude<Part, Joined>): void {
    this.add(`condition ${condition.kind}`);
    switch (condition.kind) {
      case 'place':
        for (const shape of condition.shapes) this.add(`shape ${'form' in shape ? shape.form : shape.kind}`);
        return;
      case 'comparison':
        this.term(condition.left.term);
        this.add(`operator ${condition.operator}`);
        if (condition.left.over !== undefined) this.add('over a list');
        break;
      case 'every':
        break;
    }
    for (const { kind } of condition.right) this.add(`right ${kind}`);
  }

  /** The constructs that occur less often than expected. */
  rarer(names: readonly string[], least: number): readonly string[] {
    return names
      .map((name) => [name, this.counts.get(name) ?? 0] as const)
      .filter(([, count]) => count < least)
      .map(([name, count]) => `${name}: ${count}`);
  }
}
