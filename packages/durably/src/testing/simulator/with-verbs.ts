/** A chapter of a store in which some verbs are replaced. Chapters that are loaded lazily have no verbs of their own to spread. */
export function withVerbs<T extends object>(chapter: T, verbs: Partial<T>): T {
  return new Proxy(chapter, { get: (target, verb) => Reflect.get(Object.hasOwn(verbs, verb) ? verbs : target, verb) })
}
