// Where the clients' tests play: the same questions to the same engine, asked beside it and across HTTP. One virtual clock for all.

import type { DurablyClient } from '../../src/client/durably-client.ts'
import { localClient } from '../../src/client/local-client.ts'
import { setup as setupEngine, type World, type WorldOptions } from '../engine/world.ts'

export const CLIENTS = ['local'] as const
export type ClientName = (typeof CLIENTS)[number]

export interface ClientWorld extends World {
  client: DurablyClient
}

export async function setup(_name: ClientName, options?: WorldOptions): Promise<ClientWorld> {
  const world = await setupEngine('memory', options)
  return { ...world, client: localClient(world.durably) }
}
