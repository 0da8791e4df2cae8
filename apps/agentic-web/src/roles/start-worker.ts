import type { App } from '../app.ts'
import { scheduleCleanUp } from '../worker/clean-up.ts'

/** From now on this process executes runs. On SIGTERM it gives them back, so that another worker continues them at once. */
export async function startWorker(app: App): Promise<void> {
  await scheduleCleanUp(app)
  app.durably.start({ handleSignals: true })
}
