import type { App } from '../app.ts'
import type { OpenStreams } from './open-streams.ts'

/** What the routes of one server share. */
export interface ApiContext {
  app: App
  streams: OpenStreams
  /** Who asks. One local user until people can sign in. */
  userId: string
}
