import type { EventStreams } from '@coji/durably/server'
import type { App } from '../app.ts'

/** What the routes of one server share. */
export interface ApiContext {
  app: App
  streams: EventStreams
  /** Who asks. One local user until people can sign in. */
  userId: string
}
