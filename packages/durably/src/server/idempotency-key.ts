import { DurablyError } from '../model/errors.ts'

/** The key of a request: in its header, or in its body, where it may hold any character. `field` is its name there. */
export function idempotencyKey(request: Request, field: string, own: unknown): { idempotencyKey?: string } {
  const header = request.headers.get('Idempotency-Key')
  if (header !== null && own !== undefined && own !== header)
    throw new DurablyError('invalid_argument', `Idempotency-Key and ${field} differ; give one of them`)
  const key = header ?? own
  return key === undefined ? {} : { idempotencyKey: key as string }
}
