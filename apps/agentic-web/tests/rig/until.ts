import { setTimeout as pause } from 'node:timers/promises'

/** Asks again until there is an answer. The time limit of the test ends it. */
export async function until<T>(ask: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (answer) return answer
    await pause(25)
  }
}
