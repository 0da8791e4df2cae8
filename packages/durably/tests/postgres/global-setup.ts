// One server for all test files of a run, started when the first of them asks for it. The runner's main process holds its
// leash, for test files come and go in processes of their own.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { type PostgresServer, startPostgres } from './server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A socket: who connects is told the URL of the server. */
    postgresDoor: string
  }
}

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), 'durably-door-'))
  const path = join(directory, 'postgres')
  let server: Promise<PostgresServer> | undefined
  const door = createServer((socket) => {
    server ??= startPostgres()
    server.then(
      ({ url }) => socket.end(JSON.stringify({ url })),
      (error) => socket.end(JSON.stringify({ error: String(error) })),
    )
  })
  await new Promise<void>((resolve) => door.listen(path, resolve))
  provide('postgresDoor', path)
  return async () => {
    door.close()
    rmSync(directory, { recursive: true, force: true })
    await (await server?.catch(() => undefined))?.stop()
  }
}
