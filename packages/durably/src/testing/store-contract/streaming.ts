// What the chapters about streams have in common.
import type { RecordedEvent } from '../../model/event.ts'
import { encodeStreams } from '../../model/stream.ts'
import type { OwnerVerb } from '../../store/owner-write.ts'
import { ok } from '../assert.ts'
import type { World } from './chapter.ts'
import { type Owner, recorded } from './world.ts'

export function open(...streams: [stepName: string, kept: number][]): string {
  return encodeStreams(streams.map(([stepName, kept]) => ({ stepName, kept, state: `"after ${kept}"` })))
}

export function chunk(owner: Owner, stepName: string, from: number): RecordedEvent {
  return recorded(owner.world, 'stream:chunk', { generation: owner.claim.generation, stepName, from, chunks: '["hello"]' })
}

export function ends(verb: OwnerVerb): OwnerVerb {
  ok(verb.type === 'recordStep', 'the verb')
  return { ...verb, endsStream: true }
}

export async function payloadsAfter({ store }: World, { run }: Owner, after: number): Promise<RecordedEvent['payload'][]> {
  return (await store.events.list(run.id, { after })).map(({ payload }) => JSON.parse(payload))
}
