// What a job or a step returns is stored. TypeScript cannot know everything that the codec refuses: an instance of a class without methods
// looks like a plain object. It refuses what is certain: functions, symbols, and objects with methods.
// Data that may be anything passes: `any`, `unknown`, and type parameters of the caller's own functions.

type Callable = ((...args: never[]) => unknown) | (abstract new (...args: never[]) => unknown)

type Leaf = string | number | boolean | bigint | null | undefined | Date | Uint8Array

/** How deep a type is looked at, because it may contain itself. */
type Levels = [0, 0, 0, 0]

type Refused = 'This value is stored, so it must be plain data: no functions, no symbols, no objects with methods.'

/**
 * For the type of a function whose result is stored: a text, which no function fits, if `T` is known to contain what cannot be stored.
 * Otherwise `unknown`, which changes nothing.
 *
 * @example declare function step<T>(fn: ReturnsStorable<T> & (() => Promise<T>)): Promise<T>
 */
export type ReturnsStorable<T> = true extends Unstorable<Awaited<T>, Levels> ? Refused : unknown

/**
 * `true` if something in it cannot be stored, `never` if not. The first condition is true for `any` and `unknown`. It is a pair so that a type
 * parameter, which the compiler tries as `any`, is accepted as well.
 */
type Unstorable<T, TLevels extends unknown[]> = [unknown, 0] extends [T, 0]
  ? never
  : T extends Callable | symbol
    ? true
    : T extends Leaf
      ? never
      : TLevels extends [0, ...infer TRest]
        ? UnstorableInside<T, TRest>
        : never

type UnstorableInside<T, TLevels extends unknown[]> = T extends readonly unknown[]
  ? Unstorable<T[number], TLevels>
  : T extends ReadonlyMap<infer TKey, infer TValue>
    ? Unstorable<TKey | TValue, TLevels>
    : T extends ReadonlySet<infer TItem>
      ? Unstorable<TItem, TLevels>
      : // With no levels left only the members themselves are looked at, so an object with methods is not searched any further.
        true extends UnstorableMember<T, []>
        ? true
        : UnstorableMember<T, TLevels>

type UnstorableMember<T, TLevels extends unknown[]> = { [K in keyof T]-?: Unstorable<T[K], TLevels> }[keyof T]
