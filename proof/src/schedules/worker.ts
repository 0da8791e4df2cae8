// A process that fires schedules and executes their runs. It tells when it was deposed.
import { createDurably } from '../../../packages/durably/dist/index.js'
import { postgres } from '../../../packages/durably/dist/postgres/index.js'
import { sqlite } from '../../../packages/durably/dist/sqlite/index.js'
import { anything } from './anything.ts'

const [place = '', workerId = ''] = process.argv.slice(2)
const dialect = place.startsWith('postgres') ? postgres(place) : sqlite(place, { durability: 'relaxed' })
const durably = createDurably({ dialect, workerId, logger: false })
durably.defineJob({ name: 'tick', input: anything }, () => workerId)
durably.on('worker:error', ({ cause }) => process.send?.((cause as { code?: string }).code ?? 'unknown'))
durably.start()
process.send?.('started')
process.on('disconnect', () => process.exit())
