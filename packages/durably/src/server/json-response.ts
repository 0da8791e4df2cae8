// Answers are JSON in the codec's form: plain values as plain JSON, Dates, Maps and BigInts tagged.
import { wireCodec } from '../model/codec.ts'

export const wire = wireCodec()

/** Of everything that is answered: it is of this moment, and never to be taken for a page. */
export const COMMON_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }

export function jsonResponse(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(wire.encode(body, 'the answer'), {
    status,
    headers: { 'Content-Type': 'application/json', ...COMMON_HEADERS, ...headers },
  })
}

export function emptyResponse(status: 204): Response {
  return new Response(null, { status, headers: COMMON_HEADERS })
}
