import { Hono } from 'hono'
import { z } from 'zod'
import type { ApiEnv } from './api-context.ts'
import { readBody } from './read-body.ts'
import { accept, message, runEvents } from './runs.ts'

/** For older pages: a message in, an event stream out. It is a run like any other, so closing the connection does not stop it. */
export function legacyChatRoutes(): Hono<ApiEnv> {
  return new Hono<ApiEnv>().post('/:sessionId', async ({ req, var: { context } }) => {
    const { message: text } = await readBody(req.raw, z.object({ message }))
    const { run } = await accept(context, { sessionId: req.param('sessionId'), message: text })
    // Its events from the first one on.
    const response = await runEvents(context, new Request(new URL('/?after=0', req.url), { signal: req.raw.signal }), run.run_id)
    response.headers.set('X-Run-Id', run.run_id)
    return response
  })
}
