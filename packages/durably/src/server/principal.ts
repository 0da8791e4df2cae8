// The principal of a request, and its keys: they are stored apart from those of other principals, and shown as they were given.

import { DurablyError } from '../model/errors.ts'
import { checkName, NAME_BYTES_MAX, utf8Bytes } from '../model/name.ts'
import type { TriggerOptions } from '../runs/trigger.ts'
import type { ActorOption } from '../store/cluster/audited.ts'
import type { Call } from './call.ts'

/** `null` when the server does not distinguish principals. */
export async function principalOf({ server, request }: Pick<Call, 'server' | 'request'>): Promise<string | null> {
  const { principal } = server.config
  return principal ? ((await principal(request)) ?? '') : null
}

/** The principal as the actor of a command: what it does is recorded in the audit. Nothing in the request itself can name another one. */
export async function actorOf(call: Pick<Call, 'server' | 'request'>): Promise<ActorOption> {
  const principal = await principalOf(call)
  return principal ? { actor: principal } : {}
}

const KEYS = ['idempotencyKey', 'concurrencyKey'] as const

/** The options with keys that no other principal can use. */
export function withOwnKeys<T extends Pick<TriggerOptions, (typeof KEYS)[number]>>(principal: string | null, options: T): T {
  if (principal === null) return options
  const given = KEYS.filter((field) => options[field] !== undefined)
  return { ...options, ...Object.fromEntries(given.map((field) => [field, ownKey(principal, field, options[field])])) }
}

function ownKey(principal: string, field: string, key: unknown): string {
  const own = written(principal, checkName(field, key))
  const bytes = utf8Bytes(own)
  if (bytes > NAME_BYTES_MAX)
    throw new DurablyError(
      'invalid_name',
      `${field} and the principal who gave it must be at most ${NAME_BYTES_MAX} bytes together, got ${bytes}; use a shorter one or a hash of it`,
    )
  return own
}

/** The key as this principal gave it; the key of another principal stays as it is stored. */
export function givenKey(principal: string | null, stored: string | null): string | null {
  if (principal === null || !stored?.startsWith(written(principal, '').slice(0, -2))) return stored
  try {
    const key: unknown = JSON.parse(stored)[1]
    return typeof key === 'string' && written(principal, key) === stored ? key : stored
  } catch {
    return stored
  }
}

function written(principal: string, key: string): string {
  return JSON.stringify([principal, key])
}
