import { Hono } from 'hono'
import { readArtifact } from '../db/artifacts.ts'
import type { ApiContext } from './api-context.ts'
import { attachment } from './attachment.ts'
import { notFound } from './http-error.ts'

export function artifactRoutes({ app, userId }: ApiContext): Hono {
  return new Hono().get('/:id', async ({ req }) => {
    const id = req.param('id')
    const content = id.includes('\0') ? undefined : await readArtifact(app.db, userId, id)
    if (!content) throw notFound('artifact')
    return attachment(content, `${id}.txt`)
  })
}
