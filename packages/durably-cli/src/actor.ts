// Who gives a command, for the audit.
import type { ActorOption } from '@coji/durably'
import type { Option } from './command.ts'
import type { Given } from './given.ts'
import type { Io } from './output/io.ts'

export const AS_OPTION: Readonly<Record<string, Option>> = {
  as: { value: 'name', what: 'who does it, for the audit; otherwise DURABLY_ACTOR, and without either nothing is recorded' },
}

export function actorOf(given: Given, io: Pick<Io, 'env'>): ActorOption {
  const actor = given.text('as') ?? io.env.DURABLY_ACTOR
  return actor ? { actor } : {}
}
