// Children as version 4 of the schema knew them: by an idempotency key made of the parent's id and the step.
import { expect } from 'vitest'
import type { NewRun } from '../../src/store/runs.ts'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { newRun } from './runs.ts'

export function asVersion4() {
  const parent = newRun()
  const child = (step: string) => newRun({ parentRunId: parent.id, idempotencyKey: `${parent.id}/${step}` })
  return {
    parent,
    child: child('a/step ß'),
    other: child('other'),
    /** Of callers: one that looks like a child's, and one of a child that has a key of its own. */
    lookAlike: newRun({ idempotencyKey: `${parent.id}/forged` }),
    keyed: newRun({ parentRunId: parent.id, idempotencyKey: 'its own' }),
  } satisfies Record<string, NewRun>
}

export async function expectChildrenByStep({ runs }: SqlStore, { parent, child, other, lookAlike, keyed }: ReturnType<typeof asVersion4>) {
  const known = async ({ id }: NewRun) => {
    const run = await runs.get(id)
    return [run?.parentRunId, run?.parentStep, run?.idempotencyKey]
  }
  expect(await known(parent)).toEqual([null, null, null])
  expect(await known(child)).toEqual([parent.id, 'a/step ß', null])
  expect(await known(other)).toEqual([parent.id, 'other', null])
  expect(await known(lookAlike)).toEqual([null, null, `${parent.id}/forged`])
  expect(await known(keyed)).toEqual([parent.id, null, 'its own'])
  const [again] = await runs.create([newRun({ parentRunId: parent.id, parentStep: 'a/step ß' })])
  expect(again).toMatchObject({ created: false, run: { id: child.id } })
  const children = (await runs.list({})).filter(({ parentRunId }) => parentRunId === parent.id)
  expect(children.map(({ id }) => id).sort()).toEqual([child.id, other.id, keyed.id].sort())
}
