// The instance of this tab. All tabs share one database; one of them executes, the others watch and take over when it is gone.
import { createDurably } from '@coji/durably'
import { browserDialect } from '@coji/durably/browser'
import { withLogPersistence } from '@coji/durably/plugins'

export const durably = createDurably({ dialect: browserDialect('csv-import') })
durably.use(withLogPersistence())

/** A name for this page, to distinguish tabs; it changes with a reload. */
export const pageName = `page ${crypto.randomUUID().slice(0, 4)}`
