import { useEffect, useState } from 'react'

/** The time, every second while it matters. */
export function useNow(matters: boolean): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!matters) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [matters])
  return now
}
