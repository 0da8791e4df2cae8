import type { Codec } from '../model/codec.ts'
import { DECISION_PREFIX } from '../model/decision-name.ts'
import type { SentSignal } from '../model/signal.ts'
import { pagesOf } from '../store/pages-of.ts'
import type { Store } from '../store/store.ts'

/** In the order they were sent. Whether the run has received one is known from its step, which records `[]` when the time was over. */
export async function getSignals({ store, codec }: { store: Store; codec: Codec }, runId: string): Promise<SentSignal[]> {
  const sent = (await store.signals.list(runId)).filter(({ name }) => !name.startsWith(DECISION_PREFIX))
  const received = new Set<string>()
  if (sent.length > 0)
    for await (const steps of pagesOf((page) => store.steps.list(runId, page)))
      for (const { name, status, output } of steps ?? []) if (status === 'completed' && output !== '[]') received.add(name)
  return sent.map(({ name, value, createdAt }) => ({ name, value: codec.decode(value), createdAt, received: received.has(name) }))
}
