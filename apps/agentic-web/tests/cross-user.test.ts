import { afterAll, beforeAll } from 'vitest'
import { crossUser, prepareWorld, type World } from './rig/cross-user.ts'
import { OidcServer } from './rig/oidc-server.ts'
import { type OneProcess, startOneProcess } from './rig/one-process.ts'

/** The page is there, whatever the port of the server is. */
const ORIGIN = 'http://localhost:9'

let service: OidcServer
let one: OneProcess
let world: World
beforeAll(async () => {
  service = await OidcServer.start({ redirectUris: [`${ORIGIN}/auth/callback`] })
  one = await startOneProcess({ AUTH_MODE: 'password', PUBLIC_URL: ORIGIN, OAUTH_OIDC_API_URL: `${ORIGIN}/v1`, ...service.env })
  world = await prepareWorld(one.app, one.client, ORIGIN)
}, 30_000)
afterAll(() => Promise.all([one?.stop(), service?.close()]))

crossUser(() => world)
