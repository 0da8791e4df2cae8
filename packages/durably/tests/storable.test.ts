// What may be returned to be stored, as the compiler sees it: checked by `tsc -b`, which `npm test` runs first.
import type { Kysely } from 'kysely'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { createDurably, type JobContext, type StepContext } from '../src/index.ts'
import { memoryStore } from '../src/memory.ts'

/** No code of the callbacks runs: only their types are looked at. */
const never = async (_: (ctx: JobContext) => Promise<unknown>) => {}

interface Row {
  id: number
  name?: string
  at: Date | null
  tags: readonly string[]
  sizes: Map<string, Set<bigint>>
  bytes: Uint8Array
  nothing: undefined
  rest: unknown
}

interface Tree {
  name: string
  parent?: Tree
  children: Tree[]
  byName: ReadonlyMap<string, Tree>
}

type Json = string | number | boolean | null | Json[] | { [key: string]: Json }
type UserId = string & { __brand: 'UserId' }
type Shape = { kind: 'circle'; radius: number } | { kind: 'square'; side: number }

/** `any`. */
type Untyped = ReturnType<typeof JSON.parse>

class Point {
  readonly x: number
  anything: Untyped
  constructor(x: number) {
    this.x = x
  }
  double() {
    return new Point(this.x * 2)
  }
}

const schema = z.object({
  id: z.string().brand<'Id'>(),
  shape: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('a'), n: z.bigint() }),
    z.object({ kind: z.literal('b'), at: z.date() }),
  ]),
  json: z.record(z.string(), z.json()),
  pair: z.tuple([z.number(), z.string().optional()]).readonly(),
  branded: z.object({ x: z.number() }).brand<'Point'>().optional(),
})
const node = z.object({
  name: z.string(),
  get children() {
    return z.array(node)
  },
})

/** Some value of this type; it is never called. */
declare function some<T>(): T

describe('what the compiler lets a step return', () => {
  test('plain data of every kind, with its type unchanged', () =>
    never(async (ctx) => {
      expectTypeOf(await ctx.run('row', () => some<Row>())).toEqualTypeOf<Row>()
      expectTypeOf(await ctx.run('tree', async () => some<Tree>())).toEqualTypeOf<Tree>()
      expectTypeOf(await ctx.run('json', async () => some<Json>())).toEqualTypeOf<Json>()
      expectTypeOf(await ctx.run('brand', () => 'a' as UserId)).toEqualTypeOf<UserId>()
      expectTypeOf(await ctx.run('union', () => some<Shape | null>())).toEqualTypeOf<Shape | null>()
      expectTypeOf(await ctx.run('tuple', () => some<readonly [1, Date?]>())).toEqualTypeOf<readonly [1, Date?]>()
      expectTypeOf(await ctx.run('buffer', () => Buffer.from('a'))).toExtend<Uint8Array>()
      expectTypeOf(await ctx.run('any', () => JSON.parse('1'))).toBeAny()
      expectTypeOf(await ctx.run('unknown', () => some<unknown>())).toBeUnknown()
      expectTypeOf(await ctx.run('void', async () => {})).toBeVoid()
      expectTypeOf(await ctx.run('record', () => some<Record<string, Untyped>>())).toEqualTypeOf<Record<string, Untyped>>()
      const throws = () => ctx.run('never', () => Promise.reject(new Error('bad')))
      expectTypeOf(throws).returns.resolves.toBeNever()
    }))

  test('what schemas and queries produce', () =>
    never(async (ctx) => {
      const db = some<Kysely<{ users: { id: number; name: string; doc: Json } }>>()
      const query = db.selectFrom('users').select(['id', 'doc'])
      expectTypeOf(await ctx.run('zod', () => schema.parse(1))).toEqualTypeOf<z.infer<typeof schema>>()
      expectTypeOf(await ctx.run('recursive zod', () => node.parse(1))).toEqualTypeOf<z.infer<typeof node>>()
      expectTypeOf(await ctx.run('rows', () => query.execute())).toEqualTypeOf<{ id: number; doc: Json }[]>()
      expectTypeOf(await ctx.run('a row', () => query.executeTakeFirst())).toEqualTypeOf<{ id: number; doc: Json } | undefined>()
    }))

  test('what a generic helper passes on', () =>
    never(async (ctx) => {
      const plain = <T>(fn: () => Promise<T>): Promise<T> => ctx.run('x', fn)
      const withOptions = <T extends object>(fn: (step: StepContext) => T): Promise<T> => ctx.run('x', { timeout: 1 }, fn)
      const nested = <T>(value: T): Promise<{ at: Date; list: T[]; deep: { value?: T } }> =>
        ctx.run('x', () => ({ at: new Date(), list: [value], deep: { value } }))
      const nullable = <T>(value: T): Promise<T | null> => ctx.run('x', () => value || null)
      const member = <T extends object, K extends keyof T>(value: T, key: K): Promise<T[K]> => ctx.run('x', () => value[key])
      const parsed = <T extends z.ZodType>(type: T): Promise<z.infer<T>> => ctx.run('x', () => type.parse(1))
      const partial = <T extends object>(value: T): Promise<Partial<T>> => ctx.run('x', () => ({ ...value }) as Partial<T>)
      expectTypeOf(await plain(async () => 1)).toEqualTypeOf<number>()
      return [withOptions, nested, nullable, member, parsed, partial]
    }))

  test('a type that is expected still reaches the function', () =>
    never(async (ctx) => {
      const rows: Row[] = await ctx.run('x', async () => [])
      const literal: Promise<'a' | 'b'> = ctx.run('x', () => 'a')
      const shape: Shape = await ctx.run('x', ({ attempt }) => ({ kind: 'circle', radius: attempt }))
      return [rows, literal, shape]
    }))
})

describe('what the compiler refuses to store', () => {
  test('functions, symbols and objects with methods, on every level', () =>
    never(async (ctx) => {
      // @ts-expect-error a function
      await ctx.run('x', () => () => 1)
      // @ts-expect-error a class
      await ctx.run('x', async () => Point)
      // @ts-expect-error an instance with a method, also beside a member of any type
      await ctx.run('x', async () => new Point(1))
      // @ts-expect-error nested, and with options
      await ctx.run('x', { timeout: 1 }, async ({ attempt }) => [{ at: new Map([['here', new Point(attempt)]]) }])
      // @ts-expect-error one of several possible values
      await ctx.run('x', () => some<Response | null>())
      // @ts-expect-error a promise inside of the value
      await ctx.run('x', () => ({ later: Promise.resolve(1) }))
      // @ts-expect-error a symbol
      await ctx.run('x', () => new Set([Symbol('a')]))
      // @ts-expect-error only Uint8Array can be stored
      await ctx.run('x', () => new Float64Array(1))
      // @ts-expect-error a URL
      await ctx.run('x', () => new URL('a:b'))
      // @ts-expect-error asked for by name
      await ctx.run<() => void>('x', () => () => {})
      // @ts-expect-error beside a type parameter
      const generic = <T>(value: T) => ctx.run('x', () => ({ value, double: () => value }))
      // @ts-expect-error of a stream
      await ctx.stream('x', async () => new Point(1))
      // @ts-expect-error of a transaction
      await ctx.transaction('x', async () => new Point(1))
      return generic
    }))

  test('as the output of a job', () => {
    const durably = createDurably({ store: memoryStore() })
    // @ts-expect-error an instance with a method
    durably.defineJob({ name: 'instance', input: z.null() }, async () => new Point(1))
    // @ts-expect-error made by its output schema
    durably.defineJob({ name: 'schema', input: z.null(), output: z.string().transform((text) => new URL(text)) }, async () => 'a:b')
    durably.defineJob({ name: 'plain', input: z.null(), output: z.string().transform(Number) }, async () => '1')
    expect(durably.jobs.size).toBe(3)
  })
})
