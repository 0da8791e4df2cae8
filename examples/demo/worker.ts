// A worker process of the demo. It reports to its parent which steps ran and which were skipped.
import { defineReport, openDurably } from './job.ts'

const durably = openDurably(process.argv[2] ?? 'demo.db')
defineReport(durably, (name, ran) => process.send?.({ name, ran }))
await durably.migrate()
durably.start({ handleSignals: true })
process.on('disconnect', () => process.exit())
