/** When a process is asked to end. A second signal ends it at once: the runs are then taken over when their leases are over. */
export function untilAskedToStop(): { asked: Promise<void>; readonly isAsked: boolean } {
  let isAsked = false
  const asked = new Promise<void>((resolve) => {
    for (const [signal, number] of Object.entries({ SIGINT: 2, SIGTERM: 15 }))
      process.on(signal, () => {
        if (isAsked) process.exit(128 + number)
        isAsked = true
        resolve()
      })
  })
  return {
    asked,
    get isAsked() {
      return isAsked
    },
  }
}
