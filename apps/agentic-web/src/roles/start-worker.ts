import type { App } from '../app.ts'
import { scheduleCleanUp } from '../worker/clean-up.ts'

/** From now on this process executes runs, until the returned function gives them back: another worker then continues them at once. */
export async function startWorker(app: App): Promise<() => Promise<void>> {
  await scheduleCleanUp(app)
  app.durably.start()
  return () => app.durably.stop({ timeout: 0 })
}
