/** A function of a plugin around some work: it calls `next()` once, which does the work, and returns its result. */
type Wrapper<Info, T> = (info: Info, next: () => Promise<T>) => Promise<T>

/** Does the work inside the wrappers. The first one is the outermost. */
export function wrapped<Info, T>(wrappers: readonly Wrapper<Info, T>[], info: Info, work: () => Promise<T>): Promise<T> {
  return wrappers.reduceRight<() => Promise<T>>((next, wrapper) => async () => wrapper(info, next), work)()
}
