// Says when the database is back. That it is gone is an error of the worker, which is logged; that all is well again is none.
import type { Durably } from '@coji/durably'

const LOOK_MS = 1000

export function sayWhenReachable(durably: Durably, say: (text: string) => void): () => void {
  let timer: NodeJS.Timeout | undefined
  const look = async () => {
    const { store } = await durably.health()
    if (!timer) return
    timer = store.isReachable ? undefined : setTimeout(() => void look(), LOOK_MS)
    if (!timer) say('the database can be reached again; runs go on')
  }
  const stop = durably.on('worker:error', ({ cause }) => {
    if ((cause as { code?: unknown } | null)?.code === 'store_unavailable') timer ??= setTimeout(() => void look(), LOOK_MS)
  })
  return () => {
    stop()
    clearTimeout(timer)
    timer = undefined
  }
}
