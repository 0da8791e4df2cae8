import type { EventStreams } from '@coji/durably/server'
import type { App } from '../app.ts'

/** What a route has of the request's surroundings. */
export interface ApiContext {
  app: App
  streams: EventStreams
  /** Who asks. */
  userId: string
  /** Asked again while a stream is open. */
  isStillSignedIn: () => Promise<boolean>
  report: (error: unknown) => void
}

/** For Hono: routes behind the sign-in find the context in `var`. */
export interface ApiEnv {
  Variables: { context: ApiContext }
}
