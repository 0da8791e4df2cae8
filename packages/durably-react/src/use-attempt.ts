// useAttempt — runs the commands of a component, and keeps the error of the last one.
//   A1. An error is shown only with what its command was for: it may come when the component has long shown another run.
import { useCallback, useRef, useState } from 'react'
import { asError } from './observe/run-state.ts'

export interface Attempts {
  /** The error of the last attempt; cleared when the subject changes. */
  error: Error | null
  /** `of`: the subject of the command, asked when it has failed. A trigger has none. Always the same function. */
  attempt<T>(ask: () => Promise<T>, of?: () => string | null): Promise<T>
  /** Clears the error, and ignores the attempt that is still under way. */
  forget(): void
}

export function useAttempt(subject: string | null): Attempts {
  const [failure, setFailure] = useState<{ of: string | null; error: Error } | null>(null)
  const [lastSubject, setLastSubject] = useState(subject)
  const count = useRef(0)
  if (subject !== lastSubject) {
    setLastSubject(subject)
    setFailure(null)
  }
  const attempt = useCallback(async <T>(ask: () => Promise<T>, of: () => string | null = () => null): Promise<T> => {
    const number = ++count.current
    setFailure(null)
    try {
      return await ask()
    } catch (thrown) {
      if (count.current === number) setFailure({ of: of(), error: asError(thrown) })
      throw thrown
    }
  }, [])
  const forget = useCallback(() => {
    count.current++
    setFailure(null)
  }, [])
  // A1.
  const isShown = failure !== null && (failure.of ?? subject) === subject
  return { error: isShown ? failure.error : null, attempt, forget }
}
