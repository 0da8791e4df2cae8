// Asks somebody whether a tool may do what the model wants. The question is a recorded step, and the answer a signal: until it comes the run waits,
// without a worker and with its session held, and whichever worker is there then goes on.
import { DurablyError, type JobContext } from '@coji/durably'
import { z } from 'zod'
import type { ToolCallPart } from '../wire/session.ts'
import { approvalSignal, askStep } from './step-names.ts'

const decision = z.object({
  approved: z.boolean(),
  /** The user who decided. */
  by: z.string(),
  at: z.string(),
})
export type Decision = z.infer<typeof decision>

/** What is recorded when the question is asked. */
export interface Question {
  tool_call_id: string
  tool: string
  expires_at: string
}

/** Null if nobody decided in time. */
export async function askSomebody(
  ctx: JobContext,
  step: string,
  { tool_call_id, tool }: ToolCallPart,
  ms: number,
): Promise<Decision | null> {
  await ctx.run(askStep(step), (): Question => ({ tool_call_id, tool, expires_at: new Date(Date.now() + ms).toISOString() }))
  try {
    return await ctx.waitFor(approvalSignal(step), { schema: decision, timeout: ms })
  } catch (error) {
    if (error instanceof DurablyError && error.code === 'wait_timeout') return null
    throw error
  }
}

export function refusalOf(decision: Decision | null): string {
  return decision === null
    ? 'Nobody approved this call in time, so it was not done.'
    : 'The user denied this call, so it was not done. Do not ask for it again unless the user wants it.'
}
