// Where there is no browser, as when a page is rendered on a server, the dialect can be made, and says what is missing when used.
import { expect, test } from 'vitest'
import { browserDialect } from '../../src/browser/index.ts'
import { createDurably } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'

test('browserDialect() can be made anywhere, and says at first use what it lacks', async () => {
  const durably = createDurably({ dialect: browserDialect('app') })
  expect(await durably.capabilities()).toMatchObject({ role: 'idle', executes: false, browser: null })
  await expect(durably.migrate()).rejects.toMatchObject({ code: 'invalid_config', message: expect.stringMatching(/workers.*OPFS/) })
})

test('capabilities() says what applies outside of a browser', async () => {
  const durably = createDurably({ store: memoryStore({ eventLog: false }) })
  durably.start()
  expect(await durably.capabilities()).toEqual({
    transactions: false,
    eventLog: false,
    notifications: false,
    executes: true,
    role: null,
    browser: null,
  })
  await durably.stop()
  expect(await durably.capabilities()).toMatchObject({ executes: false })
})
