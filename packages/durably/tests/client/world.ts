// Where the clients' tests play: the same questions to the same engine, asked beside it and across HTTP. One virtual clock for all.
import { onTestFinished } from 'vitest'
import type { DurablyClient } from '../../src/client/durably-client.ts'
import { httpClient } from '../../src/client/http/http-client.ts'
import { localClient } from '../../src/client/local-client.ts'
import { allowAll } from '../../src/server/authorize.ts'
import { durablyHandler } from '../../src/server/handler.ts'
import { setup as setupEngine, type World, type WorldOptions } from '../engine/world.ts'
import type { Fetch } from './faulty-fetch.ts'

export const CLIENTS = ['local', 'http'] as const
export type ClientName = (typeof CLIENTS)[number]

export interface ClientWorld extends World {
  client: DurablyClient
}

export async function setup(name: ClientName, options?: WorldOptions): Promise<ClientWorld> {
  const world = await setupEngine('memory', options)
  const client = name === 'local' ? localClient(world.durably) : httpClient({ url: URL_OF_SERVER, fetch: serve(world), env: world.env })
  return { ...world, client }
}

export const URL_OF_SERVER = 'http://server.test/api/durably'

/** The real handler, without a network between. It keeps nothing back, so that both clients hear the same. */
export function serve({ durably }: Pick<World, 'durably'>): Fetch {
  const handler = durablyHandler(durably, { authorize: allowAll(), basePath: '/api/durably', exposeFailures: true })
  onTestFinished(() => {
    handler.close()
    if (handler.openStreams > 0) throw new Error(`${handler.openStreams} streams were left open`)
  })
  return async (url, init) => {
    init.signal?.throwIfAborted()
    return handler(new Request(url, init))
  }
}
