/** A chapter of a store in which some verbs are replaced. One that is loaded lazily lists no verbs, and has to be asked for each. */
export function withVerbs<T extends object>(chapter: T, verbs: Partial<T>): T {
  if (Object.keys(chapter).length > 0) return { ...chapter, ...verbs }
  return new Proxy(chapter, { get: (target, verb) => Reflect.get(Object.hasOwn(verbs, verb) ? verbs : target, verb) })
}
