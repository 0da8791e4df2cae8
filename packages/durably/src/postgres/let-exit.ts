/** Lets the process exit although this socket or timer is still active, where the runtime has `unref`. */
export function letExit(handle: unknown): void {
  if (typeof handle !== 'object' || handle === null) return
  const unref: unknown = Reflect.get(handle, 'unref')
  if (typeof unref === 'function') unref.call(handle)
}
