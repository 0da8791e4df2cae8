// The answer of an isolated process. A tool may have written it, so it is taken for a claim about its own session and nothing more.
import { z } from 'zod'
import { keepable } from '../inside/file-changes.ts'
import { type SandboxAnswer, VIOLATION_KINDS } from '../inside/request.ts'

const base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/)

const answer = z.strictObject({
  content: base64,
  isError: z.boolean(),
  changes: z.array(z.strictObject({ path: z.string(), content: base64.nullable() })),
  violation: z.strictObject({ kind: z.enum(VIOLATION_KINDS), message: z.string().max(1000) }).optional(),
})

/** Undefined if it is no answer. */
export function readAnswer(text: string, files: ReadonlyMap<string, Uint8Array>): SandboxAnswer | undefined {
  const checked = answer.safeParse(json(text))
  if (!checked.success) return undefined
  const { content, violation, ...rest } = checked.data
  return keepable(files, { ...rest, content: Buffer.from(content, 'base64').toString('utf8'), ...(violation && { violation }) })
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
