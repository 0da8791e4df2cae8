// What a program gives us to be told of trouble, and that fails itself; and what would have ended the process.
import { onTestFinished } from 'vitest'

export function failure(how: 'throws' | 'rejects', message: string): Promise<never> {
  const error = new Error(message)
  if (how === 'throws') throw error
  return Promise.reject(error)
}

export function unhandledRejections(): unknown[] {
  const heard: unknown[] = []
  const hear = (reason: unknown) => void heard.push(reason)
  process.on('unhandledRejection', hear)
  onTestFinished(() => void process.off('unhandledRejection', hear))
  return heard
}
