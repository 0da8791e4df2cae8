/** A moment that somebody waits for and somebody else announces. */
export function untilReady(): { ready: Promise<void>; arrived: () => void } {
  let arrived = () => {}
  const ready = new Promise<void>((resolve) => {
    arrived = resolve
  })
  return { ready, arrived }
}
