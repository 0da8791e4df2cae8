// Responses are JSON as the codec writes it: plain values as plain JSON; Dates, Maps and BigInts with a tag.
import { wireCodec } from '../model/codec.ts'

export const wire = wireCodec()

/** Headers of every response: it must not be cached, and a browser must not take it for a page. */
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
