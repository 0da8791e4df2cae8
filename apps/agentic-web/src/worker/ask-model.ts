// One call of the model, with its attempts. Each attempt is a step of its own that never throws for what the model's server does: a failure
// is its recorded result, so a run that is continued elsewhere takes the same way through its attempts.
import { setTimeout as pause } from 'node:timers/promises'
import type { JobContext } from '@coji/durably'
import { AgentError } from '../agent-error.ts'
import type { App } from '../app.ts'
import { expireToken } from '../db/auth.ts'
import type { StoredSettings } from '../db/settings.ts'
import { callModel, type ModelAnswer, type ModelResult } from '../model/call-model.ts'
import { NO_KEY } from '../model/model-failure.ts'
import { type PromptMessage, promptOf } from '../model/prompt.ts'
import { chooseModel } from '../model/provider.ts'
import { RefreshFailed, reconnect } from '../oauth/access-token.ts'
import type { Redactor } from '../secrets/redactor.ts'
import type { ToolName } from '../tools/definitions.ts'
import type { RunInput } from './agent-run.ts'
import { type Credential, credentialOf } from './credential.ts'
import { PartEmitter } from './emit-parts.ts'
import { modelStep } from './step-names.ts'

export interface ModelCall {
  app: App
  input: RunInput
  /** As they were when the run began. */
  settings: StoredSettings
  redactor: Redactor
  tools: readonly ToolName[]
  messages: readonly PromptMessage[]
  /** Counts the calls of this run from 0. */
  call: number
}

export interface RecordedAttempt {
  result: ModelResult
  /** The step waits this long for its next attempt; null if there is none. */
  retryInMs: number | null
}

export async function askModel(ctx: JobContext, request: ModelCall): Promise<{ step: string; answer: ModelAnswer }> {
  const { limits } = request.app.config
  let pauseMs = 0
  for (let attempt = 1; ; attempt++) {
    const step = modelStep(request.call, attempt)
    const isLast = attempt >= limits.modelAttempts
    const attemptStep = async (parts: PartEmitter): Promise<RecordedAttempt> => {
      // The pause is part of the step, so the run keeps its session while it waits.
      await pause(pauseMs, undefined, { signal: ctx.signal })
      const result = await attemptOnce(ctx, request, { attempt, parts })
      return { result, retryInMs: isLast ? null : nextPause(result, attempt, limits.retryAfterMaxMs) }
    }
    const { redactor } = request
    const { result, retryInMs } = await ctx.stream(step, (emit) =>
      redactor.guard(() => attemptStep(new PartEmitter(emit, request.call, redactor))),
    )
    if ('answer' in result) return { step, answer: result.answer }
    if (retryInMs === null) throw new AgentError(result.failure.code, result.failure.message)
    pauseMs = retryInMs
  }
}

async function attemptOnce(
  ctx: JobContext,
  call: ModelCall,
  { attempt, parts }: { attempt: number; parts: PartEmitter },
): Promise<ModelResult> {
  const { app, input, settings, tools, messages, redactor } = call
  let credential: Credential | undefined
  try {
    credential = await credentialOf(app, input.userId, settings, { redactor, signal: ctx.signal })
  } catch (error) {
    if (!(error instanceof RefreshFailed)) throw error
    return { failure: { code: 'model_error', message: error.message, retryAfterMs: error.retryAfterMs } }
  }
  const chosen = chooseModel(settings, credential?.secret, app.config)
  if (!chosen) return { failure: NO_KEY }
  const emit = (part: Parameters<PartEmitter['add']>[0]) => parts.add(part)
  const result = await callModel({ ...chosen, messages: promptOf(messages), tools, limits: app.config.limits, signal: ctx.signal, emit })
  await parts.flush()
  return credential?.connection ? refused(app, credential.connection, result, attempt) : result
}

/** A token that was withdrawn before its time: it is replaced once, and then the user has to connect again. */
async function refused(
  app: App,
  { of, provider }: NonNullable<Credential['connection']>,
  result: ModelResult,
  attempt: number,
): Promise<ModelResult> {
  if ('answer' in result || result.failure.code !== 'bad_key') return result
  const { code, message } = reconnect(provider)
  if (attempt > 1) return { failure: { code, message, retryAfterMs: null } }
  await expireToken(app.db, of)
  return { failure: { code, message, retryAfterMs: 0 } }
}

/** Grows with each attempt, unless the server asked for more; one that asks for too much is not waited for. */
function nextPause(result: ModelResult, attempt: number, maxMs: number): number | null {
  if ('answer' in result || result.failure.retryAfterMs === null) return null
  const ms = Math.max(result.failure.retryAfterMs, 250 * 2 ** attempt)
  return ms <= maxMs ? ms : null
}
