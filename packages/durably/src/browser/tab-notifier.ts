import type { Change, Notifier, NotifierDeps } from '../store/notifier.ts'
import { placeNames } from './protocol.ts'

/** Notifies the instances in all tabs over a BroadcastChannel, which does not deliver to itself. */
export function tabNotifier(name: string, { channel, hear, report }: NotifierDeps): Notifier {
  const others = new BroadcastChannel(placeNames(name).changes(channel))
  others.onmessage = ({ data }: MessageEvent<Change>) => {
    try {
      hear(data)
    } catch (error) {
      report(error)
    }
  }
  let isClosed = false
  return {
    notify(news) {
      if (!isClosed) others.postMessage(news)
    },
    async flush() {},
    async close() {
      isClosed = true
      others.close()
    },
  }
}
