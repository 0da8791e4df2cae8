import { cluster } from '@coji/durably/cluster'
import type { App } from '../app.ts'
import { scheduleCleanUp } from '../worker/clean-up.ts'

/** How long a message waits for the worker that had the last one of its session, if that one has no room. */
const PREFER_FOR = '500ms'

/** From now on this process executes runs, until the returned function gives them back: another worker then continues them at once. */
export async function startWorker(app: App): Promise<() => Promise<void>> {
  // Before anything is executed: tools that cannot be isolated must not begin.
  await app.sandbox.check()
  await scheduleCleanUp(app)
  cluster(app.durably, { preferFor: PREFER_FOR })
  app.durably.start()
  return () => app.durably.stop({ timeout: 0 })
}
