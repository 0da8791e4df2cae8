// The basic use: a job of two steps on libSQL. With a `libsql://` url and an authToken the same program runs on Turso.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDurably } from '@coji/durably'
import { LibsqlDialect } from '@libsql/kysely-libsql'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'durably-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

// Fakes for your API and your database.
const api = { fetchUsers: async (orgId: string) => [`ada@${orgId}`, `grace@${orgId}`] }
const saved = new Set<string>()

const dialect = new LibsqlDialect({ url: `file:${join(folder, 'app.db')}` })
const durably = createDurably({ dialect })
durably.on('log:write', ({ level, message, data }) => console.log(`${level}: ${message}`, data ?? ''))

const syncUsers = durably.defineJob(
  {
    name: 'sync-users',
    input: z.object({ orgId: z.string() }),
    output: z.object({ syncedCount: z.number() }),
  },
  async (ctx, payload) => {
    ctx.log.info('starting sync', { orgId: payload.orgId })

    const users = await ctx.run('fetch-users', async () => {
      const result = await api.fetchUsers(payload.orgId)
      ctx.log.info('fetched users', { count: result.length })
      return result
    })

    await ctx.run('save-to-db', async () => {
      for (const user of users) saved.add(user)
    })

    return { syncedCount: users.length }
  },
)

await durably.migrate()
durably.start({ handleSignals: true })

const { output } = await syncUsers.triggerAndWait({ orgId: 'org_123' })
console.log(`synced ${output.syncedCount} users`)

await durably[Symbol.asyncDispose]()
