/** A process that waits for nothing else may end, though this is still under way. For sockets and timers, where they can. */
export function letExit(waiting: unknown): void {
  if (typeof waiting !== 'object' || waiting === null) return
  const unref: unknown = Reflect.get(waiting, 'unref')
  if (typeof unref === 'function') unref.call(waiting)
}
