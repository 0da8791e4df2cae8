// useAttempt — runs the commands of a component, and keeps the error of the last one.
import { useCallback, useRef, useState } from 'react'
import { asError } from './observe/run-state.ts'

export interface Attempts {
  /** The error of the last attempt; cleared when the subject changes. */
  error: Error | null
  /** Always the same function. */
  attempt<T>(ask: () => Promise<T>): Promise<T>
  /** Clears the error, and ignores the attempt that is still under way. */
  forget(): void
}

export function useAttempt(subject: string | null): Attempts {
  const [error, setError] = useState<Error | null>(null)
  const [lastSubject, setLastSubject] = useState(subject)
  const count = useRef(0)
  if (subject !== lastSubject) {
    setLastSubject(subject)
    setError(null)
  }
  const attempt = useCallback(async <T>(ask: () => Promise<T>): Promise<T> => {
    const number = ++count.current
    setError(null)
    try {
      return await ask()
    } catch (thrown) {
      if (count.current === number) setError(asError(thrown))
      throw thrown
    }
  }, [])
  const forget = useCallback(() => {
    count.current++
    setError(null)
  }, [])
  return { error, attempt, forget }
}
