// Tells the other tabs of this browser that something has changed, so that they ask the server.
const channel = new BroadcastChannel('agentic-web')

export function tellOtherTabs(): void {
  channel.postMessage('changed')
}

/** Calls back when another tab has changed something, and when this one is shown again. */
export function onChangeElsewhere(changed: () => void): () => void {
  const shown = () => {
    if (document.visibilityState === 'visible') changed()
  }
  channel.addEventListener('message', changed)
  document.addEventListener('visibilitychange', shown)
  return () => {
    channel.removeEventListener('message', changed)
    document.removeEventListener('visibilitychange', shown)
  }
}
