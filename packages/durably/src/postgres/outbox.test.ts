import { expect, test } from 'vitest'
import { systemEnv } from '../model/env.ts'
import { ANYTHING, changeMessage } from './change-message.ts'
import { Outbox } from './outbox.ts'

const BYTES_OF_POSTGRES = 7999

test.each([
  { of: 'ids', id: (i: number) => `${i}`.padStart(26, '0') },
  { of: 'short names', id: (i: number) => `${i}` },
  { of: 'names that take more bytes than letters', id: (i: number) => `é"\0${i}` },
])('a full outbox of $of is a message that Postgres takes', ({ id }) => {
  const outbox = new Outbox()
  const name = systemEnv().id()
  for (let runs = 1; ; runs++) {
    for (let i = 0; i < runs; i++) outbox.add({ type: 'events', runId: id(i) })
    const entries = outbox.take()
    const isFull = entries.has(ANYTHING)
    expect(entries.size).toBe(isFull ? 1 : runs)
    expect(Buffer.byteLength(changeMessage(name, entries))).toBeLessThanOrEqual(BYTES_OF_POSTGRES)
    if (isFull) return expect(runs).toBeGreaterThan(250)
  }
})
