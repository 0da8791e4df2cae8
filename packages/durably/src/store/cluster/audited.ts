import type { AuditAction, AuditKind } from '../../model/audit.ts'
import type { Env } from '../../model/env.ts'
import { checkName } from '../../model/name.ts'
import type { Audited } from './audit.ts'

/** The option of commands that says who gives them. */
export interface ActorOption {
  /** Who does it, for the audit: at most 512 bytes. Default: nobody, and nothing is recorded. */
  actor?: string | undefined
}

/** What a store is given for a command: the entry that records it, if it has an actor. */
export function audited(
  env: Pick<Env, 'id'>,
  { actor }: ActorOption,
  action: AuditAction,
  targetId: string,
  detail: object | null = null,
): Audited {
  if (actor === undefined) return {}
  const targetKind = action.slice(0, action.indexOf(':')) as AuditKind
  const entry = { id: env.id(), actor: checkName('actor', actor), action, targetKind, targetId }
  return { audit: { ...entry, detail: detail && JSON.stringify(detail) } }
}
