// Any library that speaks Standard Schema describes inputs and outputs, and none of them is needed.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod3'
import { createDurably } from '../../src/durably.ts'
import { memoryStore } from '../../src/memory.ts'

type Letter = StandardSchemaV1<{ to: string; copies: number }>
type Sent = StandardSchemaV1<{ sent: number }>

/** Standard JSON Schema is younger than Standard Schema: a library without it has no JSON Schema to give. */
const LIBRARIES: { library: string; input: Letter; output: Sent; hasJsonSchema: boolean }[] = [
  {
    library: 'zod 4',
    input: z.object({ to: z.string(), copies: z.number() }),
    output: z.object({ sent: z.number().min(1) }),
    hasJsonSchema: true,
  },
  {
    library: 'zod 3.25',
    input: z3.object({ to: z3.string(), copies: z3.number() }),
    output: z3.object({ sent: z3.number().min(1) }),
    hasJsonSchema: false,
  },
  {
    library: 'valibot',
    input: v.object({ to: v.string(), copies: v.number() }),
    output: v.object({ sent: v.pipe(v.number(), v.minValue(1)) }),
    hasJsonSchema: false,
  },
  { library: 'arktype', input: type({ to: 'string', copies: 'number' }), output: type({ sent: 'number >= 1' }), hasJsonSchema: true },
]

describe.each(LIBRARIES)('$library', ({ input, output, hasJsonSchema }) => {
  function setup() {
    const durably = createDurably({ store: memoryStore() })
    const post = durably.defineJob({ name: 'post', input, output }, async (ctx, { copies }) => ({
      sent: await ctx.run('send', () => copies),
    }))
    return { durably, post }
  }

  test('types and checks the input and the output of a job', async () => {
    const { durably, post } = setup()
    expectTypeOf(post.trigger).parameter(0).toEqualTypeOf<{ to: string; copies: number }>()
    durably.start()
    expect(await post.triggerAndWait({ to: 'Ada', copies: 2 })).toMatchObject({ output: { sent: 2 } })
    await expect(post.trigger({ to: 'Ada', copies: 'two' } as never)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('copies'),
    })
    await expect(post.triggerAndWait({ to: 'Ada', copies: 0 })).rejects.toMatchObject({
      code: 'run_failed',
      cause: { code: 'output_invalid', message: expect.stringContaining('sent') },
    })
    await durably.stop()
  })

  test('gives its JSON Schema if it can produce one', () => {
    const { post } = setup()
    const schema = { type: 'object', properties: { to: { type: 'string' }, copies: { type: 'number' } }, required: expect.any(Array) }
    if (hasJsonSchema) expect(post.inputSchema()).toMatchObject(schema)
    else expect(post.inputSchema()).toBeNull()
  })
})
