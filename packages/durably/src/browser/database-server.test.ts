import { expect, onTestFinished, test } from 'vitest'
import { loadSqlite } from '../sqlite/database-sync.ts'
import { virtualEnv } from '../testing/virtual-env.ts'
import { DatabaseServer } from './database-server.ts'
import { type Answer, BYE, type Call, type Channel } from './protocol.ts'
import type { WasmDatabase } from './wasm-database.ts'

/** SQLite of this process, behind the interface of the one in a worker. */
async function openDatabase(): Promise<WasmDatabase> {
  const { DatabaseSync } = await loadSqlite()
  const database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  database.exec('CREATE TABLE t (a)')
  return {
    run({ sql, parameters }) {
      const statement = database.prepare(sql)
      return { rows: statement.all(...parameters) as Record<string, unknown>[], changes: null, lastInsertRowId: 0 }
    },
    get inTransaction() {
      return Reflect.get(database, 'isTransaction') === true
    },
    close() {},
  }
}

/** What a page does at its end of a channel. */
function guestOf(server: DatabaseServer) {
  const answers: (Answer | typeof BYE)[] = []
  const channel: Channel = { onmessage: null, postMessage: (message) => void answers.push(message as Answer), close() {} }
  server.serve(channel)
  let calls = 0
  const send = (data: unknown) => channel.onmessage?.({ data } as MessageEvent)
  return {
    channel,
    answers,
    send,
    /** Answers at once or not at all yet. */
    say(turn: number, ...sql: string[]): unknown {
      const call = ++calls
      const statements = sql.map((one) => ({ sql: one, parameters: [] }))
      send({ call, turn, statements, atomic: sql.length > 1 } satisfies Call)
      return this.answerTo(call)
    },
    answerTo(call: number): unknown {
      const answer = answers.find((one) => one !== BYE && one.call === call)
      if (!answer || answer === BYE) return 'no answer yet'
      return 'error' in answer ? answer.error : answer.results.map(({ rows }) => rows.length)
    },
  }
}

async function setup() {
  const env = virtualEnv()
  const server = new DatabaseServer(await openDatabase(), env)
  return { env, server, one: guestOf(server), other: guestOf(server) }
}

const rowsIn = (guest: ReturnType<typeof guestOf>, turn: number) => guest.say(turn, 'SELECT * FROM t')

test('while a transaction is open, the others wait; its own statements do not', async () => {
  const { one, other } = await setup()
  one.say(1, 'BEGIN')
  expect(rowsIn(other, 1)).toBe('no answer yet')
  expect(one.say(1, 'INSERT INTO t VALUES (1)')).toEqual([0])
  expect(one.say(1, 'COMMIT')).toEqual([0])
  expect(other.answerTo(1)).toEqual([1])
})

test('several statements are one transaction: all of them or none', async () => {
  const { one, other } = await setup()
  expect(one.say(1, 'INSERT INTO t VALUES (1)', 'INSERT INTO missing VALUES (1)')).toContain('no such table')
  expect(rowsIn(other, 1)).toEqual([0])
  expect(one.say(2, 'INSERT INTO t VALUES (1)', 'SELECT * FROM t')).toEqual([0, 1])
})

test('a transaction ends with its turn', async () => {
  const { one, other } = await setup()
  one.say(1, 'BEGIN')
  one.say(1, 'INSERT INTO t VALUES (1)')
  expect(rowsIn(one, 2)).toEqual([0])
  expect(rowsIn(other, 1)).toEqual([0])
})

test.each(['says goodbye', 'dies'])('a guest that %s in a transaction leaves nothing of it', async (how) => {
  const { server, one, other } = await setup()
  one.say(1, 'BEGIN')
  one.say(1, 'INSERT INTO t VALUES (1)')
  expect(rowsIn(other, 1)).toBe('no answer yet')
  if (how === 'dies') server.leave(one.channel)
  else one.send(BYE)
  expect(other.answerTo(1)).toEqual([0])
})

test('a transaction that gets no statement for ten seconds is rolled back, and what comes late for it is refused', async () => {
  const { env, one, other } = await setup()
  one.say(1, 'BEGIN')
  await env.advance(9000)
  one.say(1, 'INSERT INTO t VALUES (1)')
  expect(rowsIn(other, 1)).toBe('no answer yet')
  await env.advance(9999)
  expect(other.answerTo(1)).toBe('no answer yet')
  await env.advance(1)
  expect(other.answerTo(1)).toEqual([0])
  expect(one.say(1, 'INSERT INTO t VALUES (2)')).toContain('rolled back')
  expect(one.say(1, 'COMMIT')).toContain('rolled back')
  expect(rowsIn(one, 2)).toEqual([0])
})

test('a server that closes says goodbye after its last answer, and does nothing more', async () => {
  const { server, one, other } = await setup()
  one.say(1, 'BEGIN')
  other.say(1, 'INSERT INTO t VALUES (1)')
  server.close()
  expect([one.answers.at(-1), other.answers]).toEqual([BYE, [BYE]])
  expect(other.say(2, 'INSERT INTO t VALUES (1)')).toBe('no answer yet')
})
