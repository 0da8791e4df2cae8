// Code that is loaded when it is first used, so that nobody loads what they never use (ADR 0009).
import { type Env, loaded } from './env.ts'

/** Made with the first call, and returned at once from then on. If it could not be made, the next call tries again. */
export function once<T>(make: () => Promise<T>): () => T | Promise<T> {
  let made: T | undefined
  let making: Promise<T> | undefined
  const keep = (value: T) => {
    made = value
    return value
  }
  const forget = (error: unknown) => {
    making = undefined
    throw error
  }
  return () => {
    if (made !== undefined) return made
    making ??= make().then(keep, forget)
    return making
  }
}

/** Code that is loaded once for all instances. While an instance waits for it, its virtual `Env` lets no time pass. */
export function lazyCode<T>(load: () => Promise<T>): (env: Env) => T | Promise<T> {
  const code = once(load)
  return (env) => {
    const there = code()
    return there instanceof Promise ? loaded(env, () => there) : there
  }
}

type Verb = (...args: unknown[]) => Promise<unknown>
type Verbs = Record<string | symbol, Verb>

/** Passes every call on to what `open` returns; see `lazyPart`. */
export function lazyVerbs<T extends object>(open: () => T | Promise<T>): T {
  return lazyPart(open, (opened) => opened)
}

/**
 * Passes every call on to a part of what `open` returns. It must not be awaited itself, nor be what a promise resolves with: it has a method
 * of every name, so also a `then`.
 */
export function lazyPart<Opened, T extends object>(open: () => Opened | Promise<Opened>, partOf: (opened: Opened) => T): T {
  const lazily = (verb: string | symbol): Verb => {
    const call = (there: Opened, args: unknown[]) => (partOf(there) as unknown as Verbs)[verb]?.(...args) as Promise<unknown>
    return (...args) => {
      const there = open()
      return there instanceof Promise ? there.then((loaded: Opened) => call(loaded, args)) : call(there, args)
    }
  }
  const made: Verbs = {}
  // A proxy, because only the loaded object knows the names of its verbs. It lists none: those that were called are not all.
  const get = (_: T, verb: string | symbol) => {
    made[verb] ??= lazily(verb)
    return made[verb]
  }
  return new Proxy({} as T, { get })
}
