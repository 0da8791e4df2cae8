import { Hono } from 'hono'
import { readArtifact } from '../db/artifacts.ts'
import type { ApiEnv } from './api-context.ts'
import { attachment } from './attachment.ts'
import { notFound } from './http-error.ts'

export function artifactRoutes(): Hono<ApiEnv> {
  return new Hono<ApiEnv>().get('/:id', async ({ req, var: { context } }) => {
    const { app, userId } = context
    const id = req.param('id')
    const content = id.includes('\0') ? undefined : await readArtifact(app.db, userId, id)
    if (!content) throw notFound('artifact')
    return attachment(content, `${id}.txt`)
  })
}
