import { z } from 'zod'
import { openApp } from '../app.ts'
import { readConfig } from '../config.ts'
import { createInvite } from '../db/invites.ts'
import { migrate } from '../db/migrate.ts'
import { createUser } from '../db/users.ts'
import { commandEnv } from './local-data.ts'

/** For a user who exists it makes a new link, with which the user chooses a new password. */
export async function runCreateUser(email: string | undefined): Promise<void> {
  const checked = z.email().max(320).safeParse(email?.trim())
  if (!checked.success) throw new Error(`create-user needs an e-mail address, got ${JSON.stringify(email ?? '')}`)
  const env = commandEnv()
  const app = openApp(readConfig(env))
  try {
    await migrate(app.durably)
    const { userId, isNew } = await createUser(app.db, checked.data)
    console.log(`${checked.data} ${isNew ? 'is a user now' : 'is a user already'}.`)
    if (app.config.auth.mode === 'oidc') return console.log('Sign in at your service; its verified address says who you are.')
    const address = app.config.auth.publicUrl ?? `http://localhost:${env.PORT ?? 3000}`
    // Behind the `#`, so that no server and no proxy writes it into a log.
    console.log(`This link works once, for a day:\n${new URL(`/#invite=${await createInvite(app.db, userId)}`, address)}`)
  } finally {
    await app.durably[Symbol.asyncDispose]()
  }
}
