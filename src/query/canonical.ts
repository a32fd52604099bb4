/** The text of a query tree, for caches and comparisons. This module knows only the tree. */
import type { Navigation } from '../dictionary/types.ts';
import type {
  Collection,
  Expression,
  LikePart,
  Literal,
  Location,
  PlaceOfRecord,
  Point,
  Scope,
  Search,
} from './tree.ts';

/**
 * The canonical text of a tree: two trees have the same text exactly if they are equal. The text does not name the resource, so it
 * identifies a tree only together with its resource.
 */
export function canonicalText(tree: Expression | Search): string {
  switch (tree.kind) {
    case 'literal':
      return literalText(tree);
    case 'field':
      return path(tree.scope, tree.via, tree.field.name);
    case 'variable':
      return `$${tree.scope}`;
    case 'compare':
      return list(tree.operator, tree.left, tree.right);
    case 'in':
      return list('in', tree.operand, ...tree.values);
    case 'and':
    case 'or':
    case 'search-and':
    case 'search-or':
      return list(tree.kind, ...tree.terms);
    case 'not':
    case 'negate':
    case 'search-not':
      return list(tree.kind, tree.operand);
    case 'arithmetic':
      return list(`${tree.operator}:${tree.type}`, tree.left, tree.right);
    case 'call':
      return list(`${tree.function}()`, ...tree.arguments);
    case 'cast':
      return list(`cast:${[tree.type, ...(tree.range ?? [])].join()}`, tree.operand);
    case 'matches': {
      const operator = tree.ignoreCase ? 'matches-any-case' : 'matches';
      return parts(operator, canonicalText(tree.operand), JSON.stringify(tree.pattern));
    }
    case 'like':
      return parts('like', canonicalText(tree.operand), ...tree.pattern.map(likeText));
    case 'case': {
      const branches = tree.branches.map(({ when, then }) => list('when', when, then));
      return parts(`case:${tree.type}`, ...branches);
    }
    case 'distance':
      return parts('distance', locationText(tree.location), targetText(tree.to));
    case 'within':
      return parts('within', locationText(tree.location), ...tree.polygon.map(pointText));
    case 'any':
    case 'all':
    case 'count': {
      const over = `$${tree.variable}:${collectionText(tree.over)}`;
      return parts(tree.kind, over, ...(tree.predicate ? [canonicalText(tree.predicate)] : []));
    }
    case 'word':
    case 'phrase':
      return parts(tree.kind, JSON.stringify(tree.text));
  }
}

const parts = (...texts: readonly string[]): string => `(${texts.join(' ')})`;

const list = (operator: string, ...operands: readonly (Expression | Search)[]): string =>
  parts(operator, ...operands.map(canonicalText));

const path = (scope: Scope, via: readonly Navigation[], name: string): string =>
  [`$${scope}`, ...via.map((navigation) => navigation.name), name].join('/');

function literalText(literal: Literal): string {
  switch (literal.type) {
    case 'point':
      return parts('point', pointText(literal.value));
    case 'polygon':
      return parts('polygon', ...literal.value.map(pointText));
    default:
      return `${literal.type}:${JSON.stringify(literal.value)}`;
  }
}

const pointText = ({ longitude, latitude }: Point): string => `${longitude},${latitude}`;

const targetText = (to: Point | PlaceOfRecord): string =>
  'key' in to ? `of:${JSON.stringify(to.key)}` : pointText(to);

const locationText = ({ scope, via, latitude, longitude }: Location): string =>
  `${path(scope, via, latitude.name)},${longitude.name}`;

const collectionText = (over: Collection): string =>
  path(over.scope, over.via, over.kind === 'values' ? over.field.name : over.navigation.name);

function likeText(part: LikePart): string {
  switch (part.kind) {
    case 'text':
      return JSON.stringify(part.text);
    case 'any':
      return '*';
    case 'one':
      return '?';
  }
}
