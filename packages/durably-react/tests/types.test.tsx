// What a program that has registered its jobs may write (tests/jobs.ts registers them): checked by `tsc -b`.
import type { ClientTriggerOptions, DurablyClient, Run } from '@coji/durably/client'
import { expectTypeOf, test } from 'vitest'
import { useDurably, useJob, useRun } from '../src/index.ts'
import type { TestJobs } from './jobs.ts'

test('useJob knows the names of the jobs, what they take and what they return', () => {
  const greet = () => useJob('greet')
  type Greet = ReturnType<typeof greet>
  expectTypeOf<Parameters<Greet['trigger']>[0]>().toEqualTypeOf<{ name: string }>()
  expectTypeOf<Parameters<Greet['trigger']>[1]>().toEqualTypeOf<ClientTriggerOptions | undefined>()
  expectTypeOf<Greet['output']>().toEqualTypeOf<{ text: string; at: Date } | null>()
  expectTypeOf<Awaited<ReturnType<Greet['trigger']>>>().toEqualTypeOf<Run<{ text: string; at: Date }>>()
  // @ts-expect-error there is no such job
  const wrong = () => useJob('grete')
  // @ts-expect-error and this one takes a name
  const wrongInput = () => useJob('greet').trigger({ nam: 'Ada' })
  expectTypeOf([wrong, wrongInput]).toBeArray()
})

test('useDurably is the client of these jobs; useRun takes the types that are expected', () => {
  expectTypeOf(useDurably).returns.toEqualTypeOf<DurablyClient<TestJobs>>()
  const count = () => useRun<number>('id')
  expectTypeOf<ReturnType<typeof count>['output']>().toEqualTypeOf<number | null>()
})
