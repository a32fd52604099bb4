/** Shapes of stored JSON: one declaration is the type of a value and its validation. Further members are permitted. */
import { isObject, type JsonObject } from '../shared/json.ts';

export type Shape<T> = (value: unknown) => value is T;
/** The type of the values that have a shape. */
export type Shaped<S> = S extends Shape<infer T> ? T : never;

type Shapes = Readonly<Record<string, Shape<unknown>>>;
type ObjectOf<S extends Shapes> = {
  readonly [N in keyof S as undefined extends Shaped<S[N]> ? never : N]: Shaped<S[N]>;
} & { readonly [N in keyof S as undefined extends Shaped<S[N]> ? N : never]?: Shaped<S[N]> };
/** The same types by name, each with its name as its `kind`. */
export type Kinds<T> = { readonly [K in keyof T]: { readonly kind: K } & T[K] };
/** Like `Kinds`, from shapes instead of types. */
export type KindsOf<S extends Shapes> = Kinds<{ readonly [K in keyof S]: Shaped<S[K]> }>;

export const text: Shape<string> = (value) => typeof value === 'string';
export const number: Shape<number> = (value): value is number =>
  typeof value === 'number' && Number.isFinite(value);
export const flag: Shape<boolean> = (value) => typeof value === 'boolean';
export const optional =
  <T>(shape: Shape<T>): Shape<T | undefined> =>
  (value): value is T | undefined =>
    value === undefined || shape(value);
export const listOf =
  <T>(shape: Shape<T>): Shape<readonly T[]> =>
  (value): value is readonly T[] =>
    Array.isArray(value) && value.every(shape);
export const mapOf =
  <T>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> =>
  (value): value is Readonly<Record<string, T>> =>
    isObject(value) && Object.values(value).every(shape);
export const oneOf =
  <T extends string>(...values: readonly T[]): Shape<T> =>
  (value): value is T =>
    values.some((each) => each === value);

const ownMember = (value: JsonObject, name: string): unknown =>
  Object.hasOwn(value, name) ? value[name] : undefined;

export const object =
  <S extends Shapes>(members: S): Shape<ObjectOf<S>> =>
  (value): value is ObjectOf<S> =>
    isObject(value) && Object.entries(members).every(([name, shape]) => shape(ownMember(value, name)));

/** One of several shapes, by its `kind`. */
export const kinds =
  <S extends Shapes>(shapes: S): Shape<KindsOf<S>[keyof S]> =>
  (value): value is KindsOf<S>[keyof S] => {
    const kind = isObject(value) ? ownMember(value, 'kind') : undefined;
    return typeof kind === 'string' && Object.hasOwn(shapes, kind) && shapes[kind]?.(value) === true;
  };
