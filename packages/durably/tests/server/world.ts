// Where the server's tests play: the handler over a world of the engine, called as a program would call it.
import { expect } from 'vitest'
import { z } from 'zod'
import type { Durably } from '../../src/durably.ts'
import type { Run } from '../../src/index.ts'
import { wireCodec } from '../../src/model/codec.ts'
import { allowAll, durablyHandler, type ServerOptions } from '../../src/server/index.ts'
import { setup, type WorldName, type WorldOptions } from '../engine/world.ts'

export const ORIGIN = 'http://durably.test'

export interface Sent {
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

export interface Answer {
  status: number
  headers: Headers
  body: unknown
}

export const wire = wireCodec()

export function request(method: string, path: string, { body, headers, signal }: Sent = {}): Request {
  const json = body === undefined ? undefined : wire.encode(body, 'the body')
  return new Request(`${ORIGIN}${path}`, {
    method,
    headers: { ...(json !== undefined && { 'Content-Type': 'application/json' }), ...headers },
    ...(json !== undefined && { body: json }),
    ...(signal && { signal }),
  })
}

export async function read(response: Response): Promise<Answer> {
  const { status, headers } = response
  const text = await response.text()
  return { status, headers, body: text === '' ? undefined : wire.decode(text) }
}

export function reach(durably: Durably, options: Partial<ServerOptions> = {}) {
  /** What nobody was told. */
  const errors: unknown[] = []
  const handler = durablyHandler(durably, { authorize: allowAll(), onError: (error) => void errors.push(error), ...options })
  const call = async (method: string, path: string, sent?: Sent) => read(await handler(request(method, path, sent)))
  return { handler, call, errors }
}

export async function served(name: WorldName, options: Partial<ServerOptions> = {}, worldOptions: WorldOptions = {}) {
  const world = await setup(name, worldOptions)
  const job = world.durably.defineJob({ name: 'greet', input: z.object({ to: z.unknown() }) }, async (ctx, { to }) => {
    ctx.log.info('greeting')
    return ctx.run('say', () => `hello ${to}`)
  })
  return { ...world, job, ...reach(world.durably, options) }
}

export function refused(status: number, code: string, message?: string) {
  return { status, body: { error: { code, message: message === undefined ? expect.any(String) : expect.stringContaining(message) } } }
}

export const asRun = ({ body }: Answer) => body as Run
