import type { Change, Notifier, NotifierDeps } from '../store/notifier.ts'
import { placeNames } from './protocol.ts'

/** Notifies the instances in all tabs over a BroadcastChannel, which does not deliver to itself. */
export function tabNotifier(name: string, { channel, onChange, report }: NotifierDeps): Notifier {
  const others = new BroadcastChannel(placeNames(name).changes(channel))
  others.onmessage = ({ data }: MessageEvent<Change>) => {
    try {
      onChange(data)
    } catch (error) {
      report(error)
    }
  }
  let isClosed = false
  return {
    notify(change) {
      if (!isClosed) others.postMessage(change)
    },
    async flush() {},
    async close() {
      isClosed = true
      others.close()
    },
  }
}
