// The controls as requests: GET /dev/state and /dev/jobs, POST /dev/kill, /dev/pause, /dev/slow and /dev/advance.
import { isForeign } from './cross-site.ts'
import type { DevSession } from './session.ts'

/** A day at a time: more at once is a mistake in the unit. */
const ADVANCE_MS_MAX = 86_400_000

/** `null` if it is none of them. */
export async function answerControl(session: DevSession, request: Request): Promise<Response | null> {
  const { pathname } = new URL(request.url)
  if (request.method === 'GET') {
    if (pathname === '/dev/state') return Response.json(session.state)
    if (pathname === '/dev/jobs') return Response.json({ jobs: session.state.jobs.map(({ name, inputSchema }) => ({ name, inputSchema })) })
    return null
  }
  const control = CONTROLS[pathname]
  if (!control) return null
  if (request.method !== 'POST') return refused(405, 'use POST')
  if (isForeign(request)) return refused(403, 'a page of another site may not do this')
  const body = await bodyOf(request)
  if (body === null) return refused(400, 'the body must be a JSON object, or empty')
  try {
    const problem = await control(session, body)
    return problem === null ? Response.json(session.state) : refused(400, problem)
  } catch (error) {
    return refused(503, error instanceof Error ? error.message : String(error))
  }
}

type Body = Readonly<Record<string, unknown>>

/** Each returns what is wrong with the request; null if nothing is. */
const CONTROLS: Readonly<Record<string, (session: DevSession, body: Body) => string | null | Promise<string | null>>> = {
  '/dev/kill': (session) => (session.kill() === null ? 'there is no worker process at the moment' : null),
  '/dev/pause': (session, body) => switched(body, session.state.isPaused, (on) => session.pause(on)),
  '/dev/slow': (session, body) => switched(body, session.state.isSlow, (on) => session.slow(on)),
  async '/dev/advance'(session, { ms = 3_600_000 }) {
    if (typeof ms !== 'number' || !Number.isSafeInteger(ms) || ms < 1 || ms > ADVANCE_MS_MAX)
      return `ms must be a whole number from 1 to ${ADVANCE_MS_MAX}, got ${JSON.stringify(ms)}`
    await session.advance(ms)
    return null
  },
}

/** `{ on: true }` or `{ on: false }`; without a body it is switched over. */
function switched({ on }: Body, isOn: boolean, set: (on: boolean) => void): string | null {
  if (on !== undefined && typeof on !== 'boolean') return `on must be true or false, got ${JSON.stringify(on)}`
  set(on ?? !isOn)
  return null
}

async function bodyOf(request: Request): Promise<Body | null> {
  const text = await request.text()
  if (text === '') return {}
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Body) : null
  } catch {
    return null
  }
}

function refused(status: number, message: string): Response {
  return Response.json({ error: message }, { status })
}
