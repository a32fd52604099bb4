/**
 * The other records that the response to a query depends on, and whose changes therefore change the response. The parts of a record
 * are not among them, since a change of a part counts as a change of the record (store/rows/change-log.ts). This module knows only
 * the tree.
 */
import { leadsToCustomFields } from '../dictionary/index.ts';
import type { Field, Navigation, Resource } from '../dictionary/types.ts';
import type { CollectionQuery, Expansion } from './request.ts';
import { type Collection, type Expression, operandsOf } from './tree.ts';

/** Records that a response depends on: those to which a link field leads, at the end of a chain of navigations. */
export interface Dependency {
  readonly resource: string;
  readonly via: readonly Navigation[];
  readonly link: Field;
  /** Whether the link field contains their key, so that the records that refer to a given one can be found. */
  readonly isByKey: boolean;
  /** Whether their values are shown to every role that sees the record, even if the role does not see them as records. */
  readonly isJoined: boolean;
}

export interface Dependencies {
  /** The dependencies of the whole response. */
  readonly all: readonly Dependency[];
  /** Whether one of them affects which records match. */
  readonly decide: boolean;
}

/** What is needed in addition to the query. */
interface DependencySource {
  readonly resource: (name: string) => Resource;
  /** The fields of a complete record. */
  readonly fieldsOf: (resource: Resource) => readonly Field[];
  /** Whether fields of agents and offices come from other records. */
  readonly joins: boolean;
}

/** Thrown if the response depends on something whose changes cannot be followed. */
class CannotFollow extends Error {}

/**
 * The dependencies of a query.
 *
 * @returns undefined if the response also depends on something that no entry of the sequence of changes reports: the clock, the
 * location of a record that the filter names by its key, or records beyond the parts of a record
 */
export function dependenciesOf(query: CollectionQuery, source: DependencySource): Dependencies | undefined {
  const deciding = new DependencyCollector(source, query.resource);
  const all = new DependencyCollector(source, query.resource);
  try {
    if (query.filter !== undefined) deciding.addExpression(query.filter);
    if (query.filter !== undefined) all.addExpression(query.filter);
    for (const { expression } of query.computed) all.addExpression(expression);
    all.addRecord([], query);
  } catch (error) {
    if (error instanceof CannotFollow) return undefined;
    throw error;
  }
  return { all: all.list, decide: deciding.list.length > 0 };
}

class DependencyCollector {
  readonly #source: DependencySource;
  readonly #root: Resource;
  readonly #found = new Map<string, Dependency>();

  constructor(source: DependencySource, root: Resource) {
    this.#source = source;
    this.#root = root;
  }

  get list(): readonly Dependency[] {
    return [...this.#found.values()];
  }

  /** Adds the records that to-one navigations lead to and whose values the response contains. */
  addRecord(via: readonly Navigation[], { resource, selection, expansions }: CollectionQuery): void {
    const fields = selection.all ? this.#source.fieldsOf(resource) : selection.fields;
    for (const field of fields) this.#field(via, field);
    for (const expansion of expansions) this.#expansion(via, expansion);
  }

  #expansion(via: readonly Navigation[], { navigation, query }: Expansion): void {
    if (leadsToCustomFields(navigation)) return;
    if (!navigation.collection) {
      this.#step(via, navigation);
      this.addRecord([...via, navigation], query);
      return;
    }
    this.#requirePart(navigation);
    const inner = new DependencyCollector(this.#source, this.#target(navigation));
    if (query.filter !== undefined) inner.addExpression(query.filter);
    for (const { expression } of [...query.computed, ...query.order]) inner.addExpression(expression);
    inner.addRecord([], query);
    // It cannot be determined which records of the query have such parts.
    if (inner.list.length > 0 || query.expansions.some((each) => !leadsToCustomFields(each.navigation))) {
      throw new CannotFollow();
    }
  }

  addExpression(expression: Expression): void {
    this.#ownReads(expression);
    for (const each of operandsOf(expression)) this.addExpression(each);
  }

  /** Adds what an expression itself reads, without its operands. */
  #ownReads(expression: Expression): void {
    switch (expression.kind) {
      case 'field':
        this.#path(expression.scope, expression.via);
        this.#field(expression.via, expression.field, expression.scope);
        return;
      case 'call':
        if (expression.function === 'now') throw new CannotFollow();
        return;
      case 'distance':
        if ('key' in expression.to) throw new CannotFollow();
        this.#path(expression.location.scope, expression.location.via);
        return;
      case 'within':
        this.#path(expression.location.scope, expression.location.via);
        return;
      case 'any':
      case 'all':
      case 'count':
        this.#collection(expression.over);
        return;
    }
  }

  #collection(over: Collection): void {
    this.#path(over.scope, over.via);
    if (over.kind === 'values') return;
    if (over.scope !== 0) throw new CannotFollow();
    this.#requirePart(over.navigation);
  }

  /** @param scope the record at which the navigations begin; navigations of a part of the record cannot be followed */
  #path(scope: number, via: readonly Navigation[]): void {
    if (scope !== 0 && via.length > 0) throw new CannotFollow();
    for (const [index, navigation] of via.entries()) this.#step(via.slice(0, index), navigation);
  }

  #field(via: readonly Navigation[], { joined }: Field, scope = 0): void {
    if (joined === undefined || !this.#source.joins) return;
    if (scope !== 0) throw new CannotFollow();
    const from = this.#end(via);
    this.#add({
      ...this.#link(via, from, joined.link),
      resource: joined.resource,
      isByKey: true,
      isJoined: true,
    });
  }

  #step(via: readonly Navigation[], navigation: Navigation): void {
    const { local, remote, target } = navigation;
    const isByKey = this.#source.resource(target).key === remote;
    this.#add({ ...this.#link(via, this.#end(via), local), resource: target, isByKey, isJoined: false });
  }

  #link(via: readonly Navigation[], from: Resource, name: string): Pick<Dependency, 'via' | 'link'> {
    const link = from.fields.get(name);
    if (link === undefined) throw new CannotFollow();
    return { via, link };
  }

  /** Requires that a navigation leads to parts of the record: a change of a part counts as a change of the record. */
  #requirePart(navigation: Navigation): void {
    const { parent } = this.#target(navigation);
    const isPart =
      parent?.keyField === navigation.remote &&
      (parent.kind === 'named' || parent.resource === navigation.resource);
    if (!isPart) throw new CannotFollow();
  }

  #target({ target }: Navigation): Resource {
    return this.#source.resource(target);
  }

  #end(via: readonly Navigation[]): Resource {
    const last = via.at(-1);
    return last === undefined ? this.#root : this.#target(last);
  }

  #add(dependency: Dependency): void {
    const { via, link, resource, isJoined } = dependency;
    const name = [...via.map((each) => each.name), link.name, resource, isJoined].join('/');
    this.#found.set(name, dependency);
  }
}
