// `durably dev` replaces its instance whenever job files come and go, while pages load.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ServedInstance } from '../src/dev/served-instance.ts'
import { openAt, temporaryFolder } from './cli.ts'

test.each(['/runs', '/stats', '/schedules', '/settings'])(
  'a request for %s that came before the instance was closed is answered',
  async (path) => {
    const served = new ServedInstance(await openAt(join(temporaryFolder(), 'test.db')))
    const response = served.handle(new Request(`http://localhost/api${path}`))
    await served.close()
    expect((await response).status).toBe(200)
    await expect(served.durably.getRuns()).rejects.toMatchObject({ code: 'store_closed' })
  },
)
