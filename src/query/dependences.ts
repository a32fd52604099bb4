/**
 * Which other records the response to a query is made of, so that it is known whose changes change it. The parts of a
 * record are not among them: a change of a part counts as one of the record (store/rows/change-log.ts). It knows the
 * tree alone.
 */
import { leadsToCustomFields } from '../dictionary/index.ts';
import type { Field, Navigation, Resource } from '../dictionary/types.ts';
import type { CollectionQuery, Expansion } from './request.ts';
import { type Collection, type Expression, operandsOf } from './tree.ts';

/** Records that a field of the queried records, or of records that to-one navigations lead to, leads on to. */
export interface Dependence {
  /** Whose records they are. */
  readonly resource: string;
  readonly via: readonly Navigation[];
  readonly link: Field;
  /** Whether the field holds their key, so that it is known which records lead to one of them. */
  readonly isByKey: boolean;
  /** Whether their values are shown to every role that sees the record, even if they are not visible themselves. */
  readonly isJoined: boolean;
}

export interface Dependences {
  /** Of the whole answer. */
  readonly all: readonly Dependence[];
  /** Whether one of them decides which records match. */
  readonly decide: boolean;
}

/** What is known of the records beside the query. */
interface DependenceSource {
  readonly resource: (name: string) => Resource;
  /** The fields that a whole record has. */
  readonly fieldsOf: (resource: Resource) => readonly Field[];
  /** Whether fields of agents and offices come from other records. */
  readonly joins: boolean;
}

/** Thrown where the response depends on more than can be followed. */
class CannotFollow extends Error {}

/**
 * @returns undefined where the response also depends on what no change of a record tells: the clock, a place of a
 * record that is named by its key, or records beyond the parts of a record
 */
export function dependencesOf(query: CollectionQuery, source: DependenceSource): Dependences | undefined {
  const deciding = new Found(source, query.resource);
  const all = new Found(source, query.resource);
  try {
    if (query.filter !== undefined) deciding.expression(query.filter);
    if (query.filter !== undefined) all.expression(query.filter);
    for (const { expression } of query.computed) all.expression(expression);
    all.record([], query);
  } catch (error) {
    if (error instanceof CannotFollow) return undefined;
    throw error;
  }
  return { all: all.list, decide: deciding.list.length > 0 };
}

class Found {
  readonly #source: DependenceSource;
  readonly #root: Resource;
  readonly #found = new Map<string, Dependence>();

  constructor(source: DependenceSource, root: Resource) {
    this.#source = source;
    this.#root = root;
  }

  get list(): readonly Dependence[] {
    return [...this.#found.values()];
  }

  /** What a record shows that some to-one navigations lead to. */
  record(via: readonly Navigation[], { resource, selection, expansions }: CollectionQuery): void {
    const fields = selection.all ? this.#source.fieldsOf(resource) : selection.fields;
    for (const field of fields) this.#field(via, field);
    for (const expansion of expansions) this.#expansion(via, expansion);
  }

  #expansion(via: readonly Navigation[], { navigation, query }: Expansion): void {
    if (leadsToCustomFields(navigation)) return;
    if (!navigation.collection) {
      this.#step(via, navigation);
      this.record([...via, navigation], query);
      return;
    }
    this.#requirePart(navigation);
    const inner = new Found(this.#source, this.#target(navigation));
    if (query.filter !== undefined) inner.expression(query.filter);
    for (const { expression } of [...query.computed, ...query.order]) inner.expression(expression);
    inner.record([], query);
    // Which records of the query have such parts is not followed.
    if (inner.list.length > 0 || query.expansions.some((each) => !leadsToCustomFields(each.navigation))) {
      throw new CannotFollow();
    }
  }

  expression(expression: Expression): void {
    this.#alone(expression);
    for (const each of operandsOf(expression)) this.expression(each);
  }

  /** What an expression reads beside those that it is made of. */
  #alone(expression: Expression): void {
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

  /** @param scope of the record that the navigations begin at; those of a part of the record are not followed */
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

  #link(via: readonly Navigation[], from: Resource, name: string): Pick<Dependence, 'via' | 'link'> {
    const link = from.fields.get(name);
    if (link === undefined) throw new CannotFollow();
    return { via, link };
  }

  /** A change of a part of a record counts as one of that record. */
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

  #add(dependence: Dependence): void {
    const { via, link, resource, isJoined } = dependence;
    const name = [...via.map((each) => each.name), link.name, resource, isJoined].join('/');
    this.#found.set(name, dependence);
  }
}
