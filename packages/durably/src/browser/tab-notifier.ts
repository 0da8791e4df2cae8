import type { News, Notifier, NotifierParts } from '../store/notifier.ts'
import { placeNames } from './protocol.ts'

/** News between the instances of all tabs: a BroadcastChannel, which does not hear itself. */
export function tabNotifier(name: string, { channel, hear, report }: NotifierParts): Notifier {
  const others = new BroadcastChannel(placeNames(name).news(channel))
  others.onmessage = ({ data }: MessageEvent<News>) => {
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
