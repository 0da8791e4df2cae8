// What went wrong with a call of the model: a code for the page, a sentence for people, and whether trying again can help.
import { APICallError } from 'ai'
import type { RunErrorCode } from '../wire/event.ts'

export interface ModelFailure {
  code: RunErrorCode
  message: string
  /** The pause before the next attempt; null if another attempt would fail as well. */
  retryAfterMs: number | null
}

const CONTEXT = /context.{0,20}(length|window|size|limit)|maximum context|prompt is too long|too many (input )?tokens/i
const PAUSE_MS = 1000
const MESSAGE_LENGTH_MAX = 500

export const NO_KEY: ModelFailure = {
  code: 'bad_key',
  message: 'There is no key for this provider. Add one in the settings.',
  retryAfterMs: null,
}

/** `secret` is the key that was sent: some servers repeat it in their errors. It is taken out before the message is cut, so that no half of it stays. */
export function modelFailure(error: unknown, secret: string | undefined): ModelFailure {
  const failure = classify(error)
  const message = secret ? failure.message.replaceAll(secret, '[redacted]') : failure.message
  return { ...failure, message: message.slice(0, MESSAGE_LENGTH_MAX) }
}

function classify(error: unknown): ModelFailure {
  if (APICallError.isInstance(error) && error.statusCode !== undefined) return ofStatus(error, error.statusCode)
  // No answer, or one that broke off or is no answer of a model.
  return again('model_error', `The model's server gave no valid answer: ${messageOf(error)}`, PAUSE_MS)
}

function ofStatus(error: APICallError, status: number): ModelFailure {
  const said = `The model's server answered ${status}: ${error.message}`
  if (CONTEXT.test(`${error.message} ${error.responseBody ?? ''}`) && (status === 400 || status === 413 || status === 422))
    return final('context_too_long', 'The conversation is too long for this model. Begin a new session.')
  if (status === 401 || status === 403) return final('bad_key', `${said} Check the key in the settings.`)
  if (status === 404) return final('model_not_found', `${said} Check the model and the address in the settings.`)
  if (status === 408 || status === 409 || status === 429 || status >= 500) return again('model_error', said, pauseOf(error.responseHeaders))
  // 200 with a body that is no stream of events.
  if (status < 400) return again('model_error', `The model's server gave no valid answer: ${error.message}`, PAUSE_MS)
  return final('model_error', said)
}

/** The header Retry-After: seconds or a date. */
function pauseOf(headers: Record<string, string> | undefined): number {
  const value = headers?.['retry-after']
  if (value === undefined) return PAUSE_MS
  const ms = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isFinite(ms) ? Math.max(ms, 0) : PAUSE_MS
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error && error.cause.message ? `${error.message} (${error.cause.message})` : error.message
}

function final(code: RunErrorCode, message: string): ModelFailure {
  return { code, message, retryAfterMs: null }
}

function again(code: RunErrorCode, message: string, retryAfterMs: number): ModelFailure {
  return { code, message, retryAfterMs }
}
