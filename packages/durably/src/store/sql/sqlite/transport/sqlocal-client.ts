// When SQLocal cannot open its file it goes on in memory and only warns on the console; here that is an error.
import { type Env, within } from '../../../../model/env.ts'
import { DurablyError } from '../../../../model/errors.ts'
import { isPath, type SqlocalClient } from './sqlocal-shape.ts'

/** Another program may have the file open without knowing our lock. */
const OPENINGS_MAX = 3
/** Loading and compiling SQLite is part of it. */
const OPENING_MS_MAX = 30_000

/** `client`, or, where its file was not to be had, another one like it. */
export async function openOnOpfs(client: SqlocalClient, { env, allowMemory }: { env: Env; allowMemory: boolean }): Promise<SqlocalClient> {
  for (let opening = 1; ; opening++) {
    const storage = await storageOf(client, env)
    if (storage === 'opfs' || allowMemory) return client
    if (opening === OPENINGS_MAX || !mayOpenAgain(client)) throw inMemory(client, storage)
    await client.destroy()
    client = new (client.constructor as new (config: unknown) => SqlocalClient)(client.config)
  }
}

async function storageOf(client: SqlocalClient, env: Env): Promise<string | undefined> {
  const info = client.getDatabaseInfo()
  if (await within(env, OPENING_MS_MAX, info)) return (await info).storageType
  throw new DurablyError(
    'store_unavailable',
    `SQLocal has not answered for ${OPENING_MS_MAX} ms: its worker was not loaded; with Vite add the plugin of sqlocal/vite`,
  )
}

function mayOpenAgain({ config }: SqlocalClient): boolean {
  return globalThis.crossOriginIsolated === true && isPath(config?.databasePath) && config?.processor === undefined
}

function inMemory({ config }: SqlocalClient, storage: string | undefined): DurablyError {
  const path = config?.databasePath
  const why = !isPath(path)
    ? 'give it the name of a file'
    : globalThis.crossOriginIsolated
      ? 'the file could not be opened; is it open elsewhere without Durably, or is this a private window?'
      : 'the page is not cross-origin isolated: send Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp'
  return new DurablyError(
    'store_in_memory',
    `SQLocal keeps ${JSON.stringify(path)} in ${storage ?? 'an unknown place'}, not on OPFS, so a reload would lose it: ${why}; or accept that with allowMemory: true`,
  )
}
