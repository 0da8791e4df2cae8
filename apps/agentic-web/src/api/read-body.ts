import { z } from 'zod'
import { HttpError } from './http-error.ts'

/** Larger than the longest message as JSON. */
const BODY_BYTES_MAX = 700_000

/** Reads no more than the limit, whatever the header says. */
export async function readBody<T extends z.ZodType>(request: Request, schema: T): Promise<z.infer<T>> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of request.body ?? []) {
    bytes += part.length
    if (bytes > BODY_BYTES_MAX) throw new HttpError('too_large', `the body is larger than ${BODY_BYTES_MAX} bytes`)
    parts.push(part)
  }
  const checked = schema.safeParse(json(Buffer.concat(parts).toString('utf8')))
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  const field = issue?.path.join('.') || 'the body'
  throw new HttpError(issue?.code === 'too_big' ? 'too_large' : 'invalid_request', `${field}: ${issue?.message ?? 'not valid'}`)
}

function json(text: string): unknown {
  if (text === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    throw new HttpError('invalid_request', 'the body must be JSON')
  }
}

/** A text that databases can store: they have no NUL. */
export function storableText(max: number) {
  return z
    .string()
    .max(max, `at most ${max} characters`)
    .refine((text) => !text.includes('\0'), 'must not contain a NUL character')
    .transform((text) => text.toWellFormed())
}
