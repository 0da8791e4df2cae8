import { openApp } from '../app.ts'
import { readConfig } from '../config.ts'
import { resealAll } from '../secrets/reseal.ts'
import { commandEnv } from './local-data.ts'

export async function runRotateKeys(): Promise<void> {
  const app = openApp(readConfig(commandEnv()))
  try {
    const { resealed, unreadable } = await resealAll(app.db, app.keys)
    console.log(`${resealed} secrets are now sealed with ${app.keys.current}.`)
    if (unreadable > 0)
      throw new Error(
        `${unreadable} secrets cannot be opened with any key of APP_KEYS; add the key that they were sealed with, or let users enter them again`,
      )
  } finally {
    await app.durably[Symbol.asyncDispose]()
  }
}
