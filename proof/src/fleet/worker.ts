// A worker process of the fleet: executes, and answers nobody.
import { openMember } from './member.ts'

const { durably } = openMember()
durably.start()
process.send?.({ type: 'ready' })
