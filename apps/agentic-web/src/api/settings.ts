import { Hono } from 'hono'
import { z } from 'zod'
import { changeSettings, DEMO_MODEL, readSettings, type StoredSettings, viewSettings, writeSettings } from '../db/settings.ts'
import type { SettingsView } from '../wire/settings.ts'
import type { ApiEnv } from './api-context.ts'
import { HttpError } from './http-error.ts'
import { readBody, storableText } from './read-body.ts'

const key = z.string().trim().min(8, 'a key has at least 8 characters').max(1000).nullable().optional()
const change = z.strictObject({
  provider: z.enum(['demo', 'openai', 'anthropic', 'openai-compatible']).optional(),
  model: storableText(200).optional(),
  reasoning: z.enum(['default', 'low', 'medium', 'high']).optional(),
  base_url: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL, such as http://localhost:11434/v1' })
    .max(500)
    // It is shown and recorded.
    .refine(
      (url) => !URL.canParse(url) || (new URL(url).username === '' && new URL(url).password === ''),
      'must not contain a user or a password',
    )
    .nullable()
    .optional(),
  openai_api_key: key,
  anthropic_api_key: key,
  compatible_api_key: key,
})

export function settingsRoutes(): Hono<ApiEnv> {
  return new Hono<ApiEnv>()
    .get('/', async ({ var: { context } }) => answer(await viewSettings(context.app.db, context.userId)))
    .patch('/', async ({ req, var: { context } }) => {
      const { app, userId } = context
      const ifVersion = versionOf(req.header('If-Match'))
      const asked = await readBody(req.raw, change)
      const { settings, version } = await readSettings(app.db, userId)
      if (version !== ifVersion) throw changedMeanwhile(version)
      const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))
      const changed = changeSettings(settings, given)
      demandComplete(changed)
      if (!(await writeSettings(app.db, userId, { settings: changed, change: given, ifVersion, ring: app.keys })))
        throw changedMeanwhile(ifVersion + 1)
      return answer(await viewSettings(app.db, userId))
    })
}

function answer(settings: SettingsView): Response {
  return Response.json(settings, { headers: { ETag: `"${settings.version}"`, 'Cache-Control': 'no-store' } })
}

function versionOf(header: string | undefined): number {
  if (header === undefined) throw new HttpError('if_match_required', 'send If-Match with the ETag of the settings that you changed')
  const [, digits] = /^(?:W\/)?"(\d{1,9})"$/.exec(header.trim()) ?? []
  if (digits === undefined) throw new HttpError('invalid_request', 'If-Match must be the ETag of the settings, such as "3"')
  return Number(digits)
}

function changedMeanwhile(version: number): HttpError {
  return new HttpError('version_mismatch', `the settings were changed meanwhile; their version is ${version}. Read them again`)
}

function demandComplete({ provider, model, base_url }: StoredSettings): void {
  if (provider === 'demo' && model !== DEMO_MODEL)
    throw new HttpError('invalid_request', `model: the demo provider has one model, ${DEMO_MODEL}`)
  if (model.trim() === '') throw new HttpError('invalid_request', 'model: must not be empty')
  if (provider === 'openai-compatible' && base_url === null)
    throw new HttpError('invalid_request', 'base_url: an openai-compatible server needs its address, such as http://localhost:11434/v1')
}
