// A database of its own for a test, on the Postgres that all tests of a run share.
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A socket: who connects is told the URL of the server. */
    postgresDoor: string
  }
}

export async function temporaryDatabase(): Promise<string> {
  const answer = JSON.parse(await text(connect(inject('postgresDoor')))) as { url?: string; error?: string }
  if (answer.url === undefined) throw new Error(answer.error)
  const server = answer.url
  const name = `durably_cli_${randomUUID().replaceAll('-', '')}`
  await runOn(server, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`)
  onTestFinished(() => runOn(server, `DROP DATABASE ${name} WITH (FORCE)`))
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

async function runOn(url: string, sql: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(sql)
  await client.end()
}
