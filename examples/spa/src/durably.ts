// The instance of this tab. All tabs share one database; one of them executes, the others watch and wait for its place.
import { createDurably } from '@coji/durably'
import { browserDialect } from '@coji/durably/browser'
import { withLogPersistence } from '@coji/durably/plugins'

export const durably = createDurably({ dialect: browserDialect('csv-import') })
durably.use(withLogPersistence())

/** A name for this page, to tell tabs apart; it is another one after a reload. */
export const pageName = `page ${crypto.randomUUID().slice(0, 4)}`
