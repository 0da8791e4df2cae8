// Notifiers for tests, and the changes that they receive.
import pg from 'pg'
import { expect, onTestFinished, vi } from 'vitest'
import { type Env, systemEnv } from '../../src/model/env.ts'
import { type PostgresOptions, type PostgresPool, postgres } from '../../src/postgres/index.ts'
import type { Change, Notifier } from '../../src/store/notifier.ts'

export const CHANNEL = 'durably "test" $1'

export interface Party extends Notifier {
  received: Change[]
  reported: unknown[]
  /** Resolves when it has received `change`; forgets everything up to there. */
  receives(change: Change): Promise<void>
}

export interface PartyOptions extends PostgresOptions {
  env?: Env
  channel?: string
}

export function open(place: string | PostgresPool, { env = systemEnv(), channel = CHANNEL, ...options }: PartyOptions = {}): Party {
  const received: Change[] = []
  const reported: unknown[] = []
  const notifier = postgres(place, options).openNotifier({
    env,
    channel,
    onChange: (change) => void received.push(change),
    report: (error) => void reported.push(error),
  })
  onTestFinished(() => notifier.close())
  return {
    received,
    reported,
    notify: (change) => notifier.notify(change),
    flush: () => notifier.flush(),
    close: () => notifier.close(),
    async receives(change) {
      await eventually(() => expect(received).toContainEqual(change))
      received.splice(0, received.findIndex((other) => JSON.stringify(other) === JSON.stringify(change)) + 1)
    },
  }
}

/** One that has passed its self-test. */
export async function listening(place: string | PostgresPool, options?: PartyOptions): Promise<Party> {
  const party = open(place, options)
  await party.receives({ type: 'anything' })
  return party
}

export interface Bystander {
  client: pg.Client
  /** The payloads of changes, without the self-tests. */
  messages: string[]
}

/** Another client on the channel, that is not ours. */
export async function bystander(url: string): Promise<Bystander> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end())
  const messages: string[] = []
  client.on('notification', ({ payload = '' }) => {
    if (!payload.includes('"probe"')) messages.push(payload)
  })
  await client.query(`LISTEN ${client.escapeIdentifier(CHANNEL)}`)
  return { client, messages }
}

export function eventually(assertion: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(assertion, { timeout: 15_000, interval: 10 })
}

export interface HurriedEnv extends Env {
  /** How long was to be waited. */
  waits: number[]
}

/** Waits pass sooner than they should. */
export function hurriedEnv(factor: number): HurriedEnv {
  const env = systemEnv()
  const waits: number[] = []
  const timer: Env['timer'] = (ms, fn) => {
    waits.push(ms)
    return env.timer(ms / factor, fn)
  }
  return { ...env, timer, waits }
}
