// Notifiers for tests, and what they hear.
import pg from 'pg'
import { expect, onTestFinished, vi } from 'vitest'
import { type Env, systemEnv } from '../../src/model/env.ts'
import { type PostgresOptions, type PostgresPool, postgres } from '../../src/postgres/index.ts'
import type { Change, Notifier } from '../../src/store/notifier.ts'

export const CHANNEL = 'durably "test" $1'

export interface Party extends Notifier {
  heard: Change[]
  reported: unknown[]
  /** Resolves when it has heard `news`; forgets everything up to there. */
  hears(news: Change): Promise<void>
}

export interface PartyOptions extends PostgresOptions {
  env?: Env
  channel?: string
}

export function open(place: string | PostgresPool, { env = systemEnv(), channel = CHANNEL, ...options }: PartyOptions = {}): Party {
  const heard: Change[] = []
  const reported: unknown[] = []
  const notifier = postgres(place, options).openNotifier({
    env,
    channel,
    hear: (news) => void heard.push(news),
    report: (error) => void reported.push(error),
  })
  onTestFinished(() => notifier.close())
  return {
    heard,
    reported,
    notify: (news) => notifier.notify(news),
    flush: () => notifier.flush(),
    close: () => notifier.close(),
    async hears(news) {
      await eventually(() => expect(heard).toContainEqual(news))
      heard.splice(0, heard.findIndex((other) => JSON.stringify(other) === JSON.stringify(news)) + 1)
    },
  }
}

/** One that has passed its self-test. */
export async function listening(place: string | PostgresPool, options?: PartyOptions): Promise<Party> {
  const party = open(place, options)
  await party.hears({ type: 'anything' })
  return party
}

export interface Bystander {
  client: pg.Client
  /** The payloads of news, without the self-tests. */
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
