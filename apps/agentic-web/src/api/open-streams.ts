// One event stream of a user: it counts while it is open, and ends when the user is signed out.
//   - Where nothing is limited and nobody signs in, nothing is asked.

import { giveStreamBack, renewStream, takeStream } from '../db/streams.ts'
import type { ApiContext } from './api-context.ts'
import { HttpError } from './http-error.ts'

const RENEW_MS = 15_000

export interface OpenStream {
  mayRead: () => Promise<boolean>
  end: () => void
}

export async function countStream({ app, userId, isStillSignedIn, report }: ApiContext): Promise<OpenStream> {
  const { streams: max } = app.config.limits.perUser
  if (max === Number.POSITIVE_INFINITY) return { mayRead: isStillSignedIn, end() {} }
  const id = await takeStream(app.db, userId, max)
  if (id === undefined) throw new HttpError('too_many_streams', `you have ${max} event streams open already; close a page`, RENEW_MS)
  let renewedAt = Date.now()
  return {
    async mayRead() {
      if (Date.now() - renewedAt > RENEW_MS) {
        renewedAt = Date.now()
        await renewStream(app.db, userId, id)
      }
      return isStillSignedIn()
    },
    end: () => void giveStreamBack(app.db, userId, id).catch(report),
  }
}
