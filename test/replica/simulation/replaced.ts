/** The same object with some of its members replaced. */
export function replaced<T extends object>(target: T, parts: Partial<T>): T {
  return new Proxy(target, {
    get(object, name) {
      if (Object.hasOwn(parts, name)) return Reflect.get(parts, name);
      const value: unknown = Reflect.get(object, name, object);
      return typeof value === 'function' ? value.bind(object) : value;
    },
  });
}
