// A promise that the test settles itself: how tests wait for a moment instead of sleeping.

export interface Gate<T = void> {
  opened: Promise<T>
  open(value: T): void
}

export function gate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => {}
  const opened = new Promise<T>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
