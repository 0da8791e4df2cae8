// Real servers for tests: each way a user can put the handler behind one.
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import { Hono } from 'hono'
import { onTestFinished } from 'vitest'
import { type DurablyHandler, nodeListener } from '../../src/server/index.ts'

export const BASE_PATH = '/api/durably'

export const MOUNTS: Record<string, (handler: DurablyHandler) => RequestListener> = {
  'node:http': (handler) => nodeListener(handler),
  Express: (handler) => express().use(BASE_PATH, nodeListener(handler)),
  'Express behind a body parser': (handler) => express().use(express.json()).use(BASE_PATH, nodeListener(handler)),
  Hono: (handler) => {
    const app = new Hono()
    app.all(`${BASE_PATH}/*`, (c) => handler(c.req.raw))
    return getRequestListener(app.fetch)
  },
}

/** The address of a server that is closed when the test has finished. */
export async function listen(listener: RequestListener): Promise<{ url: string; server: Server }> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}
