// callServer — sends a request, again while that is safe and may help, and returns the decoded answer.
import { unlessAborted } from '../../model/abort.ts'
import type { Codec } from '../../model/codec.ts'
import { type Clock, sleep } from '../../model/env.ts'
import { DurablyError } from '../../model/errors.ts'
import { type HttpQuestion, type HttpRefusal, type HttpRequests, retryPauseMs, unreachable } from './http-request.ts'

const ATTEMPTS_MAX = 5
const ANSWER_MS_MAX = 30_000
const RETRY_AFTER_MS_MAX = 10_000

export interface HttpCallDeps {
  requests: HttpRequests
  env: Clock
  codec: Codec
}

export interface HttpCall extends HttpQuestion {
  /** The request is idempotent: it only reads, or it has an idempotency key. Default false. */
  isSafe?: boolean
}

/** Returns the decoded body; `undefined` when it is empty. */
export async function callServer({ requests, env, codec }: HttpCallDeps, call: HttpCall): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const answer = await answerOf(env, requests, call)
    if ('text' in answer) return decoded(codec, call, answer.text)
    if (!(answer.isPassing && call.isSafe) || attempt === ATTEMPTS_MAX) throw answer.error
    await sleep(env, retryPauseMs(env, attempt - 1, Math.min(answer.retryAfterMs, RETRY_AFTER_MS_MAX)))
  }
}

/** A server that accepts the connection and never answers counts as unreachable. */
async function answerOf(env: Clock, requests: HttpRequests, call: HttpCall): Promise<{ text: string } | HttpRefusal> {
  const late = new AbortController()
  const timer = env.timer(ANSWER_MS_MAX, () => late.abort())
  try {
    const answer = await unlessAborted(late.signal, answerText(requests, call, late.signal))
    return answer ?? unreachable(`${call.method} ${call.path} got no answer within ${ANSWER_MS_MAX} ms`)
  } finally {
    env.clear(timer)
  }
}

async function answerText(requests: HttpRequests, call: HttpCall, signal: AbortSignal): Promise<{ text: string } | HttpRefusal> {
  const answer = await requests.ask(call, signal)
  if (answer.response === null) return answer
  return answer.response.text().then(
    (text) => ({ text }),
    (cause: unknown) => unreachable(`the answer to ${call.method} ${call.path} broke off`, cause),
  )
}

function decoded(codec: Codec, { method, path }: HttpCall, text: string): unknown {
  if (text === '') return undefined
  try {
    return codec.decode(text)
  } catch (cause) {
    const begin = JSON.stringify(text.slice(0, 40))
    throw new DurablyError('server_unreachable', `${method} ${path} was answered with ${begin}…, and not by Durably; is the url right?`, {
      cause,
    })
  }
}
