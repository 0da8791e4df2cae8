import { DurablyError } from '../model/errors.ts'

/** Reads the key of a request from its header, or from `field` of its body, where it may contain any character. */
export function idempotencyKey(request: Request, field: string, own: unknown): { idempotencyKey?: string } {
  const header = request.headers.get('Idempotency-Key')
  if (header !== null && own !== undefined && own !== header)
    throw new DurablyError('invalid_argument', `Idempotency-Key and ${field} differ; give one of them`)
  const key = header ?? own
  return key === undefined ? {} : { idempotencyKey: key as string }
}
