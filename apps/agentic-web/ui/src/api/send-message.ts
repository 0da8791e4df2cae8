// A message is sent with a key, so it can be sent again when no answer came: the server accepts it once.
import type { AcceptedRun } from '../../../src/wire/run.ts'
import { ApiError, request } from './request.ts'

const PAUSES_MS = [300, 1000, 2500]

export async function sendMessage(sessionId: string, message: string): Promise<AcceptedRun> {
  const key = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
  const send = () =>
    request<AcceptedRun>('/runs', { method: 'POST', body: { session_id: sessionId, message }, headers: { 'Idempotency-Key': key } })
  for (const ms of PAUSES_MS) {
    try {
      return await send()
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'unreachable')) throw error
      await new Promise((resolve) => setTimeout(resolve, ms))
    }
  }
  return send()
}
